import { logFailure } from "#log/log";
/*
 * A lease on a row, held by a request or a queue consumer while it works on an idempotency key, an upload or an import.
 * If the holder dies, its lease is not renewed, and another holder can soon take it.
 */
const requestMs = 9_000;

/** The end of a lease that is taken or renewed now. */
export const leaseEnd = (now: number, leaseMs = requestMs): Date => new Date(now + leaseMs);

/** Does the work while renewing its lease, three times per lease. */
export async function whileRenewed<T>(
  renew: (endsAt: Date) => Promise<unknown>,
  work: () => Promise<T>,
  leaseMs = requestMs,
): Promise<T> {
  let renewed: Promise<unknown> = Promise.resolve();
  const renewal = setInterval(() => {
    renewed = renew(leaseEnd(Date.now(), leaseMs)).catch((error: unknown) =>
      logFailure("could not renew a lease", error),
    );
  }, leaseMs / 3);
  try {
    return await work();
  } finally {
    clearInterval(renewal);
    await renewed; // otherwise the renewal could arrive after the lease was released
  }
}
