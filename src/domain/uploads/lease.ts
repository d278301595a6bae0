import { Refusal } from "#domain/refusal";
import type { Database } from "#storage/db";
import { endLease, renewLease, takeLease, type ResumableUpload } from "#storage/resumable-uploads";

/** A request that stops renewing its lease loses it; a running one renews it three times in between. */
const leaseMs = 9_000;
const renewalMs = 3_000;

/** Works with an upload while no other request writes it. Of two at once, one is refused. */
export async function withLease<T>(
  db: Database,
  upload: ResumableUpload,
  work: (held: ResumableUpload) => Promise<T>,
): Promise<T> {
  const now = Date.now();
  const lease = { leaseId: crypto.randomUUID(), leaseEndsAt: new Date(now + leaseMs) };
  const held = await takeLease(db, upload, lease, new Date(now));
  if (!held) throw isBusy();
  const renewal = setInterval(() => {
    renewLease(db, held, new Date(Date.now() + leaseMs)).catch((error: unknown) => console.error("renewLease:", error));
  }, renewalMs);
  try {
    return await work(held);
  } finally {
    clearInterval(renewal);
    await endLease(db, held);
  }
}

export const isBusy = () =>
  new Refusal("unknown_error", {
    reason: "busy",
    message: "Another request is writing this upload. Wait for it to end.",
  });
