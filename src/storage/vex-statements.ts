import { and, asc, eq, sql } from "drizzle-orm";
import { entryOfAct } from "./audit-log.ts";
import type { Database } from "./db.ts";
import { fromNewRow, insertFrom } from "./inserts.ts";
import { vexStatements } from "./schema.ts";

/** An owner's statement about an advisory. If the build is 0, the statement is for all images of the appliance. */
export type VexStatement = typeof vexStatements.$inferSelect;

type StatementKey = Pick<VexStatement, "applianceId" | "advisory" | "buildId">;

/** The statements about the images of an appliance, ordered by advisory. Their number has a limit. */
export const listStatements = (db: Database, applianceId: number): Promise<VexStatement[]> =>
  db.query.vexStatements.findMany({
    where: eq(vexStatements.applianceId, applianceId),
    orderBy: [asc(vexStatements.advisory), asc(vexStatements.buildId)],
  });

/**
 * Stores a statement, replacing an earlier one. False if the appliance has too many others, or if the image is gone.
 */
export async function saveStatement(db: Database, statement: VexStatement, most: number): Promise<boolean> {
  const { applianceId, advisory, buildId } = statement;
  const others = sql`(SELECT count(*) FROM vex_statements WHERE appliance_id = ${applianceId}
    AND NOT (advisory = ${advisory} AND build_id = ${buildId}))`;
  const isThere =
    buildId === 0
      ? sql`EXISTS (SELECT 1 FROM appliances WHERE id = ${applianceId})`
      : sql`EXISTS (SELECT 1 FROM builds WHERE id = ${buildId} AND appliance_id = ${applianceId})`;
  const [saved] = await db.batch([
    insertFrom(db, vexStatements, statement, sql`WHERE ${others} < ${most} AND ${isThere}`)
      .onConflictDoUpdate({
        target: [vexStatements.applianceId, vexStatements.advisory, vexStatements.buildId],
        set: fromNewRow(vexStatements, ["status", "justification", "text", "statedAt"]),
      })
      .returning({ advisory: vexStatements.advisory }),
    ...entryOfAct(db),
  ]);
  return saved.length > 0;
}

/** False if there is no such statement. */
export async function deleteStatement(
  db: Database,
  { applianceId, advisory, buildId }: StatementKey,
): Promise<boolean> {
  const [gone] = await db.batch([
    db
      .delete(vexStatements)
      .where(
        and(
          eq(vexStatements.applianceId, applianceId),
          eq(vexStatements.advisory, advisory),
          eq(vexStatements.buildId, buildId),
        ),
      )
      .returning({ advisory: vexStatements.advisory }),
    ...entryOfAct(db),
  ]);
  return gone.length > 0;
}
