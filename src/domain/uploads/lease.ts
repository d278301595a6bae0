import { Refusal } from "#domain/refusal";
import { leaseEnd, whileRenewed } from "#domain/request-lease";
import type { Database } from "#storage/db";
import { endLease, renewLease, takeLease, type ResumableUpload } from "#storage/resumable-uploads";

/**
 * Works on an upload while no other request can write to it. If there are two such requests at the same time, one is
 * refused.
 */
export async function withLease<T>(
  db: Database,
  upload: ResumableUpload,
  work: (held: ResumableUpload) => Promise<T>,
): Promise<T> {
  const now = Date.now();
  const lease = { leaseId: crypto.randomUUID(), leaseEndsAt: leaseEnd(now) };
  const held = await takeLease(db, upload, lease, new Date(now));
  if (!held) throw isBusy();
  try {
    return await whileRenewed(
      (endsAt) => renewLease(db, held, endsAt),
      () => work(held),
    );
  } finally {
    await endLease(db, held);
  }
}

export const isBusy = () =>
  new Refusal("unknown_error", {
    reason: "busy",
    message: "Another request is writing this upload. Wait for it to end.",
  });

/** How long an upload is kept after its last bytes. */
const patienceMs = 24 * 60 * 60_000;

export const expiryOf = (now: number): Date => new Date(now + patienceMs);
