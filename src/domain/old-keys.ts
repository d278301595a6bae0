import type { Services } from "#domain/services";
import { findSweepPosition, saveSweepPosition } from "#storage/sweep";

/** Blobs are written before their rows, so the row of a young blob may not be written yet. */
const graceMs = 60 * 60_000;
/** How many blobs of each prefix one run checks. */
const pageSize = 500;

/** The next page of keys below a prefix, without recent ones. Stores the position for the next run. */
export async function nextOldKeys(
  { env, db }: Services,
  { prefix, now, youngMs = graceMs }: { prefix: string; now: number; youngMs?: number },
): Promise<string[]> {
  const cursor = await findSweepPosition(db, prefix);
  const page = await env.BLOBS.list({ prefix, limit: pageSize, ...(cursor === undefined ? {} : { cursor }) });
  await saveSweepPosition(db, prefix, page.truncated ? page.cursor : undefined);
  return page.objects.filter(({ uploaded }) => uploaded.getTime() < now - youngMs).map(({ key }) => key);
}

export async function removeBlobs(env: Env, keys: string[]): Promise<void> {
  if (keys.length > 0) await env.BLOBS.delete(keys);
}
