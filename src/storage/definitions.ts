import { and, eq, sql, type SQL } from "drizzle-orm";
import { usedBytesOf } from "./accounts.ts";
import type { Appliance, NewAppliance, Selection } from "./appliances.ts";
import type { ConfigurationColumns } from "./configurations.ts";
import type { Database } from "./db.ts";
import { keyInJson, type GpgKey } from "./gpg-keys.ts";
import { insertFrom } from "./inserts.ts";
import { counts } from "./limits.ts";
import { fileInJson, released, type OverlayFile } from "./overlay-files.ts";
import { hasSchematic, madeFrom } from "./schematics.ts";
import { unreserved } from "./reservations.ts";
import { applianceRepositories, appliances, gpgKeys, overlayFiles, selections } from "./schema.ts";
import { selectionInJson } from "./selections.ts";

/** The new rows of an appliance. If a list is absent, its rows stay. */
export interface DefinitionRows {
  columns: ConfigurationColumns;
  repositoryIds?: readonly number[];
  selection?: readonly Pick<Selection, "kind" | "name" | "version" | "repositoryId">[];
  files?: readonly Omit<OverlayFile, "id" | "applianceId" | "createdAt" | "requestId">[];
  keys?: readonly Pick<GpgKey, "name" | "target" | "fingerprint" | "key">[];
}

export interface DefinitionLimits {
  quotaBytes: number;
  appliances: number;
  configurationBytes: number;
  /** Overlay files. */
  files: number;
  /** A name that no other appliance of the account may have. */
  name?: string;
  /** The schematic that the appliance is made from. The account must not have it yet. */
  schematic?: string;
}

/**
 * Overwrites the appliance that was read, in one batch. Undefined if the appliance has changed since or is gone, or if
 * a limit is reached; then nothing was written.
 */
export async function saveDefinition(
  db: Database,
  read: Appliance,
  rows: DefinitionRows,
  limits: DefinitionLimits,
): Promise<Appliance | undefined> {
  const { id, accountId } = read;
  const editedAt = new Date(Math.max(Date.now(), read.lastEditedAt.getTime() + 1));
  const bytes = sql`length(CAST(${JSON.stringify(rows.columns.configuration)} AS BLOB))`;
  const all = counts.configurationBytes(accountId ?? 0);
  const gate = db
    .update(appliances)
    .set({ ...rows.columns, lastEditedAt: editedAt })
    .where(
      and(
        eq(appliances.id, id),
        eq(appliances.lastEditedAt, read.lastEditedAt),
        sql`(${bytes} <= configuration_bytes OR ${all} - configuration_bytes + ${bytes} <= ${limits.configurationBytes})`,
        hasRoom(accountId ?? 0, rows, limits),
        hasRoomForFiles({ accountId: accountId ?? 0, id: sql`${id}` }, rows, limits),
      ),
    )
    .returning();
  const holds = sql`EXISTS (SELECT 1 FROM appliances WHERE id = ${id} AND last_edited_at = ${editedAt.getTime()})`;
  const [saved] = await db.batch([gate, ...partsOf(db, sql`${id}`, rows, holds)]);
  return saved[0];
}

/** Creates an appliance from a definition, in one batch. Undefined if a limit is reached; then nothing was written. */
export async function addDefinition(
  db: Database,
  row: NewAppliance,
  rows: DefinitionRows,
  limits: DefinitionLimits,
): Promise<Appliance | undefined> {
  const accountId = row.accountId ?? 0;
  const id = sql`(SELECT id FROM appliances WHERE uuid = ${row.uuid})`;
  const isTooMuch = sql`(${counts.appliances(accountId)} > ${limits.appliances}
    OR ${counts.configurationBytes(accountId)} > ${limits.configurationBytes} OR NOT ${hasRoom(accountId, rows, limits)}
    OR NOT ${hasRoomForFiles({ accountId, id }, rows, limits)}
    OR ${limits.name === undefined ? sql`0` : sql`${named(accountId, limits.name)} > 1`}
    OR ${limits.schematic === undefined ? sql`0` : hasSchematic(accountId, limits.schematic)})`;
  const schematic = limits.schematic === undefined ? [] : [madeFrom(db, { uuid: row.uuid, sha256: limits.schematic })];
  const [added, refused] = await db.batch([
    db
      .insert(appliances)
      .values({ ...row, ...rows.columns })
      .returning(),
    db
      .delete(appliances)
      .where(and(eq(appliances.uuid, row.uuid), isTooMuch))
      .returning({ id: appliances.id }),
    ...partsOf(db, id, rows, sql`${id} IS NOT NULL`),
    ...schematic,
  ]);
  return refused.length > 0 ? undefined : added[0];
}

export async function hasApplianceNamed(db: Database, accountId: number, name: string): Promise<boolean> {
  const found = await db.get<{ amount: number }>(sql`SELECT ${named(accountId, name)} AS amount`);
  return found.amount > 0;
}

const named = (accountId: number, name: string): SQL =>
  sql`(SELECT count(*) FROM appliances WHERE account_id = ${accountId} AND name = ${name})`;

/** Whether the quota has room for the files. Contents that the account already has are not counted again. */
function hasRoom(accountId: number, { files = [] }: DefinitionRows, { quotaBytes }: DefinitionLimits): SQL {
  const sizes = Object.fromEntries(files.map(({ blobId, size }) => [blobId, size]));
  const added = sql`(SELECT coalesce(sum(value), 0) FROM json_each(${JSON.stringify(sizes)})
    WHERE key NOT IN (SELECT blob_id FROM overlay_files JOIN appliances ON appliances.id = appliance_id
                      WHERE account_id = ${accountId}))`;
  return sql`(${added} = 0 OR ${usedBytesOf(accountId, { withoutBlobs: Object.keys(sizes) })} + ${added} <= ${quotaBytes})`;
}

/**
 * Whether the account may have that many overlay files. Those of the appliance are replaced. The check always passes if
 * the appliance gets no more files than it had.
 */
function hasRoomForFiles(
  { accountId, id }: { accountId: number; id: SQL },
  { files }: DefinitionRows,
  { files: most }: DefinitionLimits,
): SQL {
  if (!files) return sql`1`;
  const replaced = sql`(SELECT count(*) FROM overlay_files WHERE appliance_id = ${id})`;
  return sql`(${files.length} <= ${replaced} OR ${counts.files(accountId)} - ${replaced} + ${files.length} <= ${most})`;
}

/** Statements that replace each given list, if `holds` is true. */
function partsOf(
  db: Database,
  applianceId: SQL,
  { repositoryIds, selection, files, keys }: DefinitionRows,
  holds: SQL,
) {
  const at = { applianceId, holds };
  return [
    ...(repositoryIds ? replaceRepositories(db, at, repositoryIds) : []),
    ...(selection ? replaceSelection(db, at, selection) : []),
    ...(files ? replaceFiles(db, at, files) : []),
    ...(keys ? replaceKeys(db, at, keys) : []),
  ];
}

interface At {
  applianceId: SQL;
  /** Whether anything is written at all. */
  holds: SQL;
}

const replaceRepositories = (db: Database, { applianceId, holds }: At, ids: readonly number[]) => [
  db.delete(applianceRepositories).where(old({ applianceId, holds })),
  insertFrom(
    db,
    applianceRepositories,
    { applianceId, repositoryId: sql`value`, position: sql`key` },
    sql`FROM json_each(${JSON.stringify(ids)}) WHERE ${holds} AND value IN (SELECT id FROM repositories)`,
  ),
];

const replaceSelection = (db: Database, at: At, rows: NonNullable<DefinitionRows["selection"]>) => [
  db.delete(selections).where(old(at)),
  insertFrom(db, selections, { applianceId: at.applianceId, ...selectionInJson }, listed(at, rows)),
];

const replaceFiles = (db: Database, at: At, rows: NonNullable<DefinitionRows["files"]>) => [
  released(db, old(at)),
  db.delete(overlayFiles).where(old(at)),
  insertFrom(db, overlayFiles, { applianceId: at.applianceId, ...fileInJson, createdAt: new Date() }, listed(at, rows)),
  unreserved(
    db,
    rows.map(({ blobId }) => blobId),
    at.holds,
  ),
];

const replaceKeys = (db: Database, at: At, rows: NonNullable<DefinitionRows["keys"]>) => [
  db.delete(gpgKeys).where(old(at)),
  insertFrom(db, gpgKeys, { applianceId: at.applianceId, ...keyInJson, createdAt: new Date() }, listed(at, rows)),
];

/** The condition for the appliance's old rows in the table of the statement. */
const old = ({ applianceId, holds }: At): SQL => sql`appliance_id = ${applianceId} AND ${holds}`;

/** The rows as one bound parameter, however many there are. They are inserted, and so get their ids, in this order. */
const listed = ({ holds }: At, rows: readonly unknown[]): SQL =>
  sql`FROM json_each(${JSON.stringify(rows)}) AS one WHERE ${holds} ORDER BY key`;
