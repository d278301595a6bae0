import { logFailure } from "#log/log";
/*
 * What one request, or one consumer of a queue, holds in a row while it works: an idempotency key, an upload or an import. One that
 * died stops renewing its lease, and another one can take it soon.
 */
const requestMs = 9_000;

/** When a lease ends that is taken or renewed now. */
export const leaseEnd = (now: number, leaseMs = requestMs): Date => new Date(now + leaseMs);

/** Does the work while its lease is renewed, three times before it would end. */
export async function whileRenewed<T>(
  renew: (endsAt: Date) => Promise<unknown>,
  work: () => Promise<T>,
  leaseMs = requestMs,
): Promise<T> {
  const renewal = setInterval(() => {
    renew(leaseEnd(Date.now(), leaseMs)).catch((error: unknown) => logFailure("a lease is not renewed", error));
  }, leaseMs / 3);
  try {
    return await work();
  } finally {
    clearInterval(renewal);
  }
}
