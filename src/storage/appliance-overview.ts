import { and, asc, count, desc, eq, sql, type SQL } from "drizzle-orm";
import type { BatchResponse } from "drizzle-orm/batch";
import type { Appliance } from "./appliances.ts";
import { unfinishedOf, type Build } from "./builds.ts";
import type { Database } from "./db.ts";
import type { LastStatus } from "./last-statuses.ts";
import type { AffectedCounts, AffectedState } from "#model/advisory";
import { appliances, builds, imagePackages, imageUpdates, lastStatuses } from "./schema.ts";

const shown = {
  id: appliances.id,
  name: appliances.name,
  arch: appliances.arch,
  baseSystem: appliances.baseSystem,
  version: appliances.version,
  imageType: appliances.imageType,
  logoBlob: appliances.logoBlob,
  lastEditedAt: appliances.lastEditedAt,
};

const shownOfBuild = {
  id: builds.id,
  applianceId: builds.applianceId,
  version: builds.version,
  imageType: builds.imageType,
  status: builds.status,
  message: builds.message,
  fileSize: builds.fileSize,
  rawSize: builds.rawSize,
  createdAt: builds.createdAt,
  completedAt: builds.completedAt,
};

/** The columns that a page of appliances shows. */
export type OverviewAppliance = Pick<Appliance, keyof typeof shown>;
export type OverviewBuild = Pick<Build, keyof typeof shownOfBuild>;

/** An image, and how outdated it was when Kiln last looked. Null if Kiln has not looked yet. */
export interface OverviewImage extends OverviewBuild {
  outdated: Pick<typeof imageUpdates.$inferSelect, "newer" | "security" | "lookedAt"> | null;
  /** How many advisories affect the image. Null if they are not counted yet, or if no feed covers its base system. */
  advisories: AffectedCounts | null;
}

export interface OverviewRow {
  appliance: OverviewAppliance;
  /** Null if the appliance was never examined. */
  status: LastStatus | null;
  /** Whether the status may be outdated: the appliance was edited, a repository changed, or the status is old. */
  isStale: boolean;
}

/** `running` includes queued builds. `unknown`: the appliance was edited and not examined since, or never examined. */
export type OverviewState = "running" | "ok" | "warning" | "error" | "unknown";
/** The default is the last edited first. */
export type OverviewOrder = "edited" | "name" | "built" | "created";

/** The selection of an account's appliances to list, and their order. */
export interface OverviewChoice {
  accountId: number;
  /** The only appliance to list; null for all appliances of the account. */
  only: number | null;
  /** Part of a name, or a selected package; empty for everything. */
  search: string;
  state?: OverviewState | undefined;
  tag?: string | undefined;
  /** Only appliances whose last images are affected by an advisory in this state. */
  advisories?: AffectedState | undefined;
  order?: OverviewOrder | undefined;
}

export interface OverviewQuery extends OverviewChoice {
  limit: number;
  offset: number;
  /** A status older than this is stale. */
  staleBefore: Date;
}

/** A page of an account's appliances. */
export interface ReadOverview {
  /** The number of appliances on all pages. */
  total: number;
  rows: OverviewRow[];
  last: OverviewBuild[];
  images: OverviewImage[];
  /** All unfinished builds of the account, the oldest first. */
  unfinished: Build[];
}

export async function listOverview(db: Database, query: OverviewQuery): Promise<ReadOverview> {
  return overviewIn(await db.batch(overviewStatements(db, query)));
}

/** The statements that read the overview, for a batch that also reads other rows. */
export function overviewStatements(
  db: Database,
  { limit, offset, staleBefore, order = "edited", ...choice }: OverviewQuery,
) {
  const wanted = isWanted(choice);
  const ids = sql`(SELECT ${appliances.id} AS value
    FROM ${appliances} LEFT JOIN ${lastStatuses} ON ${lastStatuses.applianceId} = ${appliances.id}
    WHERE ${wanted} ORDER BY ${sql.join(orders[order], sql`, `)} LIMIT ${limit} OFFSET ${offset})`;
  return [
    db
      .select({ total: count() })
      .from(appliances)
      .leftJoin(lastStatuses, eq(lastStatuses.applianceId, appliances.id))
      .where(wanted),
    db
      .select({ appliance: shown, status: lastStatuses, isStale: sql<number>`${isStale(staleBefore)}` })
      .from(appliances)
      .leftJoin(lastStatuses, eq(lastStatuses.applianceId, appliances.id))
      .where(wanted)
      .orderBy(...orders[order])
      .limit(limit)
      .offset(offset),
    lastBuilds(db, ids),
    lastImages(db, ids),
    unfinishedOf(db, choice.accountId),
  ] as const;
}

type OverviewResults = BatchResponse<ReturnType<typeof overviewStatements>>;

export const overviewIn = ([[counted], rows, last, images, unfinished]: OverviewResults): ReadOverview => ({
  total: counted?.total ?? 0,
  rows: rows.map((row) => ({ ...row, isStale: row.isStale === 1 })),
  last,
  images: images.map(({ build, ...known }) => ({ ...build, ...known })),
  unfinished,
});

const isWanted = ({ accountId, only, search, state, tag, advisories }: OverviewChoice): SQL | undefined =>
  and(
    eq(appliances.accountId, accountId),
    only === null ? undefined : eq(appliances.id, only),
    search === "" ? undefined : isFound(search),
    state && isInState[state],
    tag === undefined ? undefined : sql`EXISTS (SELECT 1 FROM ${tagsOf} WHERE value = ${tag})`,
    advisories && isConcerned(advisories),
  );

// The plus stops SQLite from using the index of all builds with a status.
const isRunning = sql`EXISTS (SELECT 1 FROM builds
  WHERE builds.appliance_id = ${appliances.id} AND +builds.status IN ('queued', 'running')
    AND builds.rebuild_of IS NULL)`;
const isKnown = sql`coalesce(${lastStatuses.editedAt} = ${appliances.lastEditedAt}, 0)`;

const isInState: Record<OverviewState, SQL> = {
  running: isRunning,
  ok: sql`(NOT ${isRunning} AND ${isKnown} AND ${lastStatuses.errors} = 0 AND ${lastStatuses.warnings} = 0)`,
  warning: sql`(NOT ${isRunning} AND ${isKnown} AND ${lastStatuses.errors} = 0 AND ${lastStatuses.warnings} > 0)`,
  error: sql`(NOT ${isRunning} AND ${isKnown} AND ${lastStatuses.errors} > 0)`,
  unknown: sql`(NOT ${isRunning} AND NOT ${isKnown})`,
};

/** The version of the newest image of an appliance. */
const lastVersionOf = (
  applianceId: SQL | typeof appliances.id,
) => sql`(SELECT latest.version FROM builds AS latest INDEXED BY builds_images
    WHERE latest.appliance_id = ${applianceId}
      AND latest.status = 'finished' AND latest.retired_at IS NULL AND latest.expired_at IS NULL
    ORDER BY latest.id DESC LIMIT 1)`;

const isConcerned = (state: AffectedState) => sql`EXISTS (
  SELECT 1 FROM builds AS image INDEXED BY builds_images
  CROSS JOIN image_packages AS counted ON counted.account_id = image.account_id AND counted.build_id = image.id
  WHERE image.appliance_id = ${appliances.id}
    AND image.status = 'finished' AND image.retired_at IS NULL AND image.expired_at IS NULL
    AND image.version = ${lastVersionOf(appliances.id)} AND counted.advisories ->> ${state} > 0)`;

const lastBuilt = sql`(SELECT max(builds.completed_at) FROM builds
  WHERE builds.appliance_id = ${appliances.id} AND +builds.status = 'finished'
    AND builds.rebuild_of IS NULL)`;

const orders: Record<OverviewOrder, SQL[]> = {
  edited: [desc(appliances.lastEditedAt), desc(appliances.id)],
  name: [sql`${appliances.name} COLLATE NOCASE`, asc(appliances.id)],
  built: [sql`${lastBuilt} DESC NULLS LAST`, desc(appliances.id)],
  created: [desc(appliances.id)],
};

/** The tags of an appliance, as a table. */
export const tagsOf = sql`json_each(${appliances.configuration}, '$.tags')`;

/** Appliances of an account that were edited and not examined since, or never examined: the last edited first. */
export const listUnexamined = async (db: Database, accountId: number, limit: number): Promise<number[]> => {
  const rows = await db
    .select({ id: appliances.id })
    .from(appliances)
    .leftJoin(lastStatuses, eq(lastStatuses.applianceId, appliances.id))
    .where(and(eq(appliances.accountId, accountId), sql`NOT ${isKnown}`))
    .orderBy(desc(appliances.lastEditedAt), desc(appliances.id))
    .limit(limit);
  return rows.map(({ id }) => id);
};

const isFound = (search: string): SQL => sql`(
  instr(lower(${appliances.name}), lower(${search})) > 0
  OR EXISTS (SELECT 1 FROM selections
    WHERE selections.appliance_id = ${appliances.id} AND selections.kind = 'package' AND selections.name = ${search}))`;

const isStale = (before: Date): SQL => sql`(
  ${lastStatuses.applianceId} IS NULL
  OR ${lastStatuses.editedAt} <> ${appliances.lastEditedAt}
  OR ${lastStatuses.examinedAt} < ${before.getTime()}
  OR EXISTS (SELECT 1 FROM appliance_repositories AS has JOIN repositories ON repositories.id = has.repository_id
    WHERE has.appliance_id = ${appliances.id} AND repositories.imported_at > ${lastStatuses.examinedAt}))`;

/** The last ended build of each appliance whose id is in a table's column `value`. */
const lastBuilds = (db: Database, ids: SQL) =>
  db
    .select(shownOfBuild)
    .from(sql`${ids} AS asked`)
    .crossJoin(builds)
    .where(
      eq(
        builds.id,
        sql`(SELECT latest.id FROM builds AS latest
          WHERE latest.appliance_id = asked.value AND latest.retired_at IS NULL
            AND +latest.status NOT IN ('queued', 'running')
          ORDER BY latest.id DESC LIMIT 1)`,
      ),
    );

/** The images of the last finished version of each appliance. */
const lastImages = (db: Database, ids: SQL) =>
  db
    .select({
      build: shownOfBuild,
      outdated: {
        newer: imageUpdates.newer,
        security: imageUpdates.security,
        lookedAt: imageUpdates.lookedAt,
      },
      advisories: imagePackages.advisories,
    })
    .from(sql`${ids} AS asked`)
    .crossJoin(builds)
    .leftJoin(imageUpdates, eq(imageUpdates.buildId, builds.id))
    .leftJoin(imagePackages, and(eq(imagePackages.accountId, builds.accountId), eq(imagePackages.buildId, builds.id)))
    .where(
      and(
        sql`${builds.applianceId} = asked.value AND ${builds.version} = ${lastVersionOf(sql`asked.value`)}`,
        sql`${builds.status} = 'finished' AND ${builds.retiredAt} IS NULL AND ${builds.expiredAt} IS NULL`,
      ),
    )
    .orderBy(builds.id);

/** The newest appliance of an account, and its last build; null if there is none. */
export const latestIdsOf = (
  db: Database,
  accountId: number,
): Promise<{ applianceId: number | null; buildId: number | null }> =>
  db.get(sql`SELECT applianceId, (SELECT max(id) FROM builds WHERE appliance_id = applianceId
      AND rebuild_of IS NULL) AS buildId
    FROM (SELECT max(id) AS applianceId FROM appliances WHERE account_id = ${accountId})`);

export const hasAppliances = async (db: Database, accountId: number): Promise<boolean> =>
  (await db.select({ id: appliances.id }).from(appliances).where(eq(appliances.accountId, accountId)).limit(1)).length >
  0;
