import { and, eq, sql } from "drizzle-orm";
import type { Database } from "./db.ts";
import { appliances, selections } from "./schema.ts";
import type { Selection } from "./appliances.ts";

export type NewSelection = Omit<Selection, "id">;

/** Adds or repins; answers what stood there before. One batch, so that two at once cannot both call it new. */
export async function saveSelection(db: Database, row: NewSelection): Promise<Selection | undefined> {
  const { version, repositoryId } = row;
  const [before] = await db.batch([
    db.query.selections.findMany({ where: sameEntry(row) }),
    db
      .insert(selections)
      .values(row)
      .onConflictDoUpdate({
        target: [selections.applianceId, selections.kind, selections.name],
        set: { version, repositoryId },
      }),
    touch(db, row.applianceId),
  ]);
  return before[0];
}

/** Whether there was one. */
export async function removeSelection(db: Database, entry: SelectionKey): Promise<boolean> {
  const [gone] = await db.batch([
    db.delete(selections).where(sameEntry(entry)).returning({ id: selections.id }),
    touch(db, entry.applianceId),
  ]);
  return gone.length > 0;
}

type SelectionKey = Pick<Selection, "applianceId" | "kind" | "name">;

const sameEntry = ({ applianceId, kind, name }: SelectionKey) =>
  and(eq(selections.applianceId, applianceId), eq(selections.kind, kind), eq(selections.name, name));

const touch = (db: Database, applianceId: number) =>
  db
    .update(appliances)
    .set({ lastEditedAt: sql`${Date.now()}` })
    .where(eq(appliances.id, applianceId));
