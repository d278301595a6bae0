import { and, count, eq, lt } from "drizzle-orm";
import type { Database } from "./db.ts";
import { builds } from "./schema.ts";

/** How many builds of all accounts wait that came before this one. */
export async function countQueuedBefore(db: Database, buildId: number): Promise<number> {
  const [row] = await db
    .select({ n: count() })
    .from(builds)
    .where(and(eq(builds.status, "queued"), lt(builds.id, buildId)));
  return row?.n ?? 0;
}
