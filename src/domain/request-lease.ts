/*
 * What one request holds while it works, in a row: an idempotency key, or an upload. A request that died stops renewing its lease,
 * and another one can take it soon.
 */
const leaseMs = 9_000;
/** Three times in between. */
const renewalMs = 3_000;

/** When a lease ends that is taken or renewed now. */
export const leaseEnd = (now: number): Date => new Date(now + leaseMs);

/** Does the work while its lease is renewed. */
export async function whileRenewed<T>(renew: (endsAt: Date) => Promise<void>, work: () => Promise<T>): Promise<T> {
  const renewal = setInterval(() => {
    renew(leaseEnd(Date.now())).catch((error: unknown) => console.error("A lease is not renewed:", error));
  }, renewalMs);
  try {
    return await work();
  } finally {
    clearInterval(renewal);
  }
}
