import { listSoftware, type SoftwareRows } from "#storage/appliance-software";
import type { Appliance } from "#storage/appliances";
import type { Database } from "#storage/db";

/** The rows that decide the status of an appliance, other than its own. */
export interface ExaminedRows extends SoftwareRows {
  readAt: Date;
}

/** Appliances with their rows. The number of statements does not depend on the number of appliances. */
export async function readExamined<Read extends Appliance>(
  db: Database,
  appliances: readonly Read[],
): Promise<{ appliance: Read; rows: ExaminedRows }[]> {
  const readAt = new Date();
  const all = await listSoftware(db, appliances);
  return all.map(({ appliance, ...rows }) => ({ appliance, rows: { ...rows, readAt } }));
}

/** The rows of one appliance. */
export async function rowsOf(db: Database, appliance: Appliance): Promise<ExaminedRows> {
  const [read] = await readExamined(db, [appliance]);
  if (!read) throw new Error("the rows of an appliance were not read");
  return read.rows;
}
