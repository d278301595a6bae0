import type { Services } from "#domain/services";
import { saveMeasured } from "#storage/counters";
import { listUsedBytes } from "#storage/metrics";
import { findSweepPosition, saveSweepPosition } from "#storage/sweep";

/** How many accounts one run reads. */
const pageSize = 100;
const position = "storage-use";

/** Adds up what all accounts store, a page of accounts per run. After the last page, stores the sum for the metrics. */
export async function measureStorage({ db }: Pick<Services, "db">): Promise<void> {
  const [after = 0, before = 0] = (await findSweepPosition(db, position))?.split(" ").map(Number) ?? [];
  const page = await listUsedBytes(db, { after, limit: pageSize });
  const sum = page.reduce((bytes, account) => bytes + account.bytes, before);
  const last = page.at(-1);
  if (last && page.length === pageSize) return await saveSweepPosition(db, position, `${last.id} ${sum}`);
  await saveMeasured(db, "storage_bytes", sum);
  await saveSweepPosition(db, position, undefined);
}
