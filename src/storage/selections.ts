import { and, eq, ne, sql } from "drizzle-orm";
import type { Database } from "./db.ts";
import { edited } from "./edits.ts";
import { insertFrom } from "./inserts.ts";
import { appliances, selections } from "./schema.ts";
import type { Selection } from "./appliances.ts";

/** The columns of a selection from a JSON object, one per row of `json_each(…) AS one`. */
export const selectionInJson = {
  kind: sql`one.value ->> 'kind'`,
  name: sql`one.value ->> 'name'`,
  version: sql`one.value ->> 'version'`,
  repositoryId: sql`one.value ->> 'repositoryId'`,
};

export type NewSelection = Omit<Selection, "id">;

/**
 * Adds or repins an entry, and returns the previous entry. It is one batch, so that two simultaneous requests cannot
 * both report it as new.
 */
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
    edited(db, row.applianceId),
  ]);
  return before[0];
}

/** Returns the removed entry. */
export async function removeSelection(db: Database, entry: SelectionKey): Promise<Selection | undefined> {
  const [gone] = await db.batch([
    db.delete(selections).where(sameEntry(entry)).returning(),
    edited(db, entry.applianceId),
  ]);
  return gone[0];
}

/**
 * Replaces all packages and patterns in one batch; bans stay. `unchangedSince` is the time of the last edit that the
 * caller has seen. If there was a later edit, nothing is replaced and the result is false.
 */
export async function replaceSelections(
  db: Database,
  { applianceId, unchangedSince }: { applianceId: number; unchangedSince?: Date | undefined },
  rows: Omit<NewSelection, "applianceId">[],
): Promise<boolean> {
  const list = rows.map(({ kind, name, version, repositoryId }) => [kind, name, version, repositoryId]);
  const seen = unchangedSince === undefined ? sql`last_edited_at` : sql`${unchangedSince.getTime()}`;
  const holds = sql`EXISTS (SELECT 1 FROM appliances WHERE id = ${applianceId} AND last_edited_at = ${seen})`;
  const [, , touched] = await db.batch([
    db.delete(selections).where(and(eq(selections.applianceId, applianceId), ne(selections.kind, "ban"), holds)),
    // One bound parameter for all entries. They are inserted in their order, so their ids have the same order.
    insertFrom(
      db,
      selections,
      {
        applianceId,
        kind: sql`value ->> 0`,
        name: sql`value ->> 1`,
        version: sql`value ->> 2`,
        repositoryId: sql`value ->> 3`,
      },
      sql`FROM json_each(${JSON.stringify(list)}) WHERE ${holds} ORDER BY key`,
    ),
    edited(db, applianceId, holds).returning({ id: appliances.id }),
  ]);
  return touched.length > 0;
}

type SelectionKey = Pick<Selection, "applianceId" | "kind" | "name">;

const sameEntry = ({ applianceId, kind, name }: SelectionKey) =>
  and(eq(selections.applianceId, applianceId), eq(selections.kind, kind), eq(selections.name, name));
