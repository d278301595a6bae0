import { overviewIn, overviewStatements, type OverviewQuery, type ReadOverview } from "./appliance-overview.ts";
import { softwareIn, softwareStatements, type SoftwareRows } from "./appliance-software.ts";
import type { Appliance } from "./appliances.ts";
import type { Database } from "./db.ts";

/** The software and the overview of one appliance, for the head of its pages, in one round trip. */
export async function readLook(
  db: Database,
  appliance: Appliance,
  query: OverviewQuery,
): Promise<{ software: SoftwareRows; overview: ReadOverview }> {
  const [bases, added, found, selected, templates, ...overview] = await db.batch([
    ...softwareStatements(db, [appliance]),
    ...overviewStatements(db, query),
  ]);
  const [software] = softwareIn([appliance], [bases, added, found, selected, templates]);
  if (!software) throw new Error("the rows of an appliance were not read");
  return { software, overview: overviewIn(overview) };
}
