import { and, asc, eq, getTableColumns, isNull, not, notInArray, sql, type SQL } from "drizzle-orm";
import type { Arch } from "#lib/contract/index";
import { counted } from "./counters.ts";
import type { Database } from "./db.ts";
import { insertFrom } from "./inserts.ts";
import { agents, appliances, builds, watches, type buildStatuses } from "./schema.ts";
import { isSilentIn, type Silence } from "./silent.ts";

export type Build = typeof builds.$inferSelect;
export type BuildStatus = (typeof buildStatuses)[number];

export const unfinished: BuildStatus[] = ["queued", "running"];

export const isUnfinished = ({ status }: Pick<Build, "status">): boolean => unfinished.includes(status);

/** A build of this account, running or ended. A build that was replaced by a forced build counts as gone. */
export const findBuild = (db: Database, accountId: number, id: number): Promise<Build | undefined> =>
  db.query.builds.findFirst({
    where: and(eq(builds.id, id), eq(builds.accountId, accountId), isNull(builds.retiredAt)),
  });

/** A build of this account, or of an appliance that is shared with it. */
export const findReadableBuild = (db: Database, accountId: number, id: number): Promise<Build | undefined> =>
  db.query.builds.findFirst({
    where: and(
      eq(builds.id, id),
      isNull(builds.retiredAt),
      sql`(${builds.accountId} = ${accountId} OR EXISTS (
        SELECT 1 FROM shares WHERE shares.appliance_id = ${builds.applianceId} AND shares.account_id = ${accountId}))`,
    ),
  });

/** A build of any account. For agents, which know builds only by id. */
export const findAnyBuild = (db: Database, id: number): Promise<Build | undefined> =>
  db.query.builds.findFirst({ where: eq(builds.id, id) });

/** A build by its uid, which is the name of its object. */
export const findBuildByUid = (db: Database, uid: string): Promise<Build | undefined> =>
  db.query.builds.findFirst({ where: eq(builds.uid, uid) });

/** A build with the architecture of its appliance. */
export async function findBuildWithArch(db: Database, uid: string): Promise<(Build & { arch: Arch }) | undefined> {
  const [row] = await db
    .select({ ...getTableColumns(builds), arch: appliances.arch })
    .from(builds)
    .innerJoin(appliances, eq(appliances.id, builds.applianceId))
    .where(eq(builds.uid, uid));
  return row;
}

/** The finished build with this token in its download address. */
export const findDownload = (db: Database, token: string): Promise<Build | undefined> =>
  db.query.builds.findFirst({
    where: and(eq(builds.downloadToken, token), eq(builds.status, "finished"), isNull(builds.retiredAt)),
  });

export const listHeldBy = (db: Database, agentId: number): Promise<Build[]> =>
  db.query.builds.findMany({ where: and(eq(builds.agentId, agentId), eq(builds.status, "running")) });

/** Unfinished builds that are silent (`isSilentIn`). */
export const takeSilentBuilds = (db: Database, silence: Silence): Promise<Build[]> =>
  db
    .update(builds)
    .set({ wakeAt: silence.wakeAt })
    .where(isSilentIn("builds", isTaken, silence))
    .returning();

/** Records that the build's object is alive, and the agent that has the build. Returns false for a row that is gone. */
export async function saveLiveness(
  db: Database,
  uid: string,
  { wakeAt, agentId, seenAt }: { wakeAt: Date; agentId: number | null; seenAt: Date },
): Promise<{ build: boolean; agent: boolean }> {
  const [updated, seen] = await db.batch([
    db.update(builds).set({ wakeAt }).where(eq(builds.uid, uid)).returning({ id: builds.id }),
    db
      .update(agents)
      .set({ lastSeenAt: seenAt })
      .where(eq(agents.id, agentId ?? 0))
      .returning({ id: agents.id }),
  ]);
  return { build: updated.length > 0, agent: seen.length > 0 };
}

/** All unfinished builds of an account, the oldest first. */
export const listUnfinishedOf = (db: Database, accountId: number): Promise<Build[]> => unfinishedOf(db, accountId);

/** The account's unfinished builds, as a statement for a batch. */
export const unfinishedOf = (db: Database, accountId: number) =>
  db
    .select()
    .from(builds)
    .where(and(isTaken, eq(builds.accountId, accountId)))
    .orderBy(asc(builds.id));

export type NewBuild = Pick<
  Build,
  | "uid"
  | "accountId"
  | "applianceId"
  | "version"
  | "imageType"
  | "needsLvm"
  | "fileSystem"
  | "needsEfi"
  | "hasSecureBoot"
  | "packageType"
  | "builderRoot"
  | "isBackground"
  | "inputSha256"
  | "downloadToken"
  | "createdAt"
  | "wakeAt"
>;

/** How many builds may be unfinished at the same time. */
export interface Slots {
  all: number;
  perAccount: number;
}

export const hasSlot = (accountId: number, slots: Slots) =>
  sql`(SELECT count(*) FROM builds WHERE ${isTaken}) < ${slots.all}
    AND (SELECT count(*) FROM builds WHERE ${isTaken} AND account_id = ${accountId}) < ${slots.perAccount}`;

/** Whether a build could be added now. Another request may still take the slot. */
export async function hasFreeSlot(db: Database, accountId: number, slots: Slots): Promise<boolean> {
  const [row] = await db.all<{ free: number }>(sql`SELECT ${hasSlot(accountId, slots)} AS free`);
  return row?.free === 1;
}

/**
 * Takes the id, the slot and the (appliance, version, type) in one statement, so that two simultaneous requests cannot
 * both pass a check. Undefined if something prevents it; the caller finds out why.
 */
export async function addBuild(
  db: Database,
  build: NewBuild,
  { force, slots }: { force: boolean; slots: Slots },
): Promise<Build | undefined> {
  const { accountId, applianceId, version, imageType } = build;
  const ofVersion = sql`SELECT 1 FROM builds WHERE appliance_id = ${applianceId} AND version = ${version} AND retired_at IS NULL`;
  const [added] = await insertFrom(
    db,
    builds,
    { ...build, status: "queued" },
    sql`FROM appliances WHERE id = ${applianceId} AND account_id = ${accountId}
      AND ${hasSlot(accountId, slots)}
      AND NOT EXISTS (SELECT 1 FROM publications WHERE appliance_id = ${applianceId} AND version = ${version})
      AND (${force ? 1 : 0} OR NOT EXISTS (${ofVersion} AND image_type = ${imageType} AND status = 'finished' AND expired_at IS NULL))
      AND (EXISTS (${ofVersion} AND status = 'finished')
        OR NOT EXISTS (${ofVersion} AND image_type <> ${imageType} AND ${isUnfinishedBuild}))`,
  )
    .onConflictDoNothing()
    .returning();
  return added;
}

/**
 * Records that an attempt has claimed the build. Like all writes of a build's object, it may run twice, and never
 * revives a build that has ended.
 */
export async function saveRunning(
  db: Database,
  uid: string,
  { agentId, startedAt }: { agentId: number; startedAt: Date },
): Promise<void> {
  await db
    .update(builds)
    .set({ status: "running", agentId, startedAt })
    .where(and(eq(builds.uid, uid), isTaken));
}

/** Records that the attempt was lost or given back. A loss is counted if the row had recorded the attempt. */
export async function saveQueued(
  db: Database,
  uid: string,
  { at, lostBy }: { at: Date; lostBy: string | undefined },
): Promise<void> {
  const isRunning = rowOf(uid, sql`status = 'running'`);
  const requeue = db
    .update(builds)
    .set({ status: "queued", agentId: null, requeuedAt: at })
    .where(and(eq(builds.uid, uid), isTaken));
  if (lostBy === undefined) await requeue;
  else await db.batch([counted(db, { name: "attempts_lost", label: lostBy, at, when: isRunning }), requeue]);
}

export type Ending = {
  status: "failed" | "error" | "cancelled";
  /** Why the last attempt ended, for the counters. */
  cause: string | undefined;
  message: string;
  percent: number;
  steps: NonNullable<Build["steps"]>;
  completedAt: Date;
};

/** Records that the build ended without an image. With status `error`, the last attempt was lost. */
export async function saveEnded(db: Database, uid: string, { cause = "", ...ending }: Ending): Promise<void> {
  const count = { at: ending.completedAt, when: rowOf(uid, isTaken) };
  await db.batch([
    counted(db, { ...count, name: "builds_ended", label: `${ending.status} ${cause}` }),
    ...(ending.status === "error" ? [counted(db, { ...count, name: "attempts_lost", label: cause })] : []),
    db
      .update(builds)
      .set({ ...ending, agentId: null, filesKey: null })
      .where(and(eq(builds.uid, uid), isTaken)),
  ]);
}

export const rowOf = (uid: string, condition: SQL) =>
  sql`EXISTS (SELECT 1 FROM builds WHERE uid = ${uid} AND ${condition})`;

export type Result = Pick<
  Build,
  "imageKey" | "fileName" | "fileSize" | "rawSize" | "compressed" | "md5" | "sha1" | "sha256" | "diskSha256"
> &
  Pick<Build, "filesKey" | "filesSize" | "filesSha256" | "filesIndexKey" | "filesIndexSize"> &
  Pick<Build, "deltaKey" | "deltaSize"> &
  Pick<Build, "builder" | "builtIn" | "conditions" | "steps"> & {
    completedAt: Date;
    message: string;
  };

/**
 * Records that the build has an image. In one batch, the build that this one replaces is retired, the appliance gets
 * its next version (only if the finished version is the configuration's), the sweep will check the appliance, and the
 * row is finished. Each statement checks that the row is still unfinished, so a repetition changes nothing.
 */
export async function saveFinished(
  db: Database,
  { id, accountId, applianceId, version, imageType }: Build,
  { nextVersion, ...result }: Result & { nextVersion: string },
): Promise<void> {
  const waits = sql`EXISTS (SELECT 1 FROM builds WHERE id = ${id} AND ${isTaken})`;
  const replaced = and(
    eq(builds.applianceId, applianceId),
    eq(builds.version, version),
    eq(builds.imageType, imageType),
    isFinished,
    isNull(builds.retiredAt),
  );
  await db.batch([
    counted(db, { name: "builds_ended", label: "finished ", at: result.completedAt, when: waits }),
    db.update(builds).set({ retiredAt: result.completedAt }).where(and(replaced, waits)),
    db
      .update(appliances)
      .set({ version: nextVersion })
      .where(and(eq(appliances.id, applianceId), eq(appliances.version, version), waits)),
    insertFrom(
      db,
      watches,
      { applianceId, accountId, lookAt: result.completedAt },
      sql`WHERE ${waits}`,
    ).onConflictDoUpdate({
      target: watches.applianceId,
      set: { lookAt: result.completedAt },
    }),
    db
      .update(builds)
      .set({ ...result, status: "finished", agentId: null, madeBy: sql`agent_id` })
      .where(and(eq(builds.id, id), isTaken)),
  ]);
}

/** Removes the row of a build that has ended and is not published; undefined if this account has no such build. */
export async function deleteBuildRow(db: Database, accountId: number, id: number): Promise<Build | undefined> {
  const [gone] = await db
    .delete(builds)
    .where(
      and(
        eq(builds.id, id),
        eq(builds.accountId, accountId),
        isNull(builds.retiredAt),
        notInArray(builds.status, unfinished),
        not(isPublishedBuild),
      ),
    )
    .returning();
  return gone;
}

/** Whether the build's version is in the gallery, so that it cannot be deleted. */
export const isPublishedBuild = sql`(${builds.status} = 'finished' AND EXISTS (SELECT 1 FROM publications
  WHERE publications.appliance_id = ${builds.applianceId} AND publications.version = ${builds.version}))`;

// Literals, as in the partial indexes: SQLite does not use such an index for a bound parameter.
export const isTaken = sql.raw("status IN ('queued', 'running')");
/** The condition of the index `builds_unfinished`, which contains no rebuilds. */
export const isUnfinishedBuild = sql.raw("status IN ('queued', 'running') AND rebuild_of IS NULL");
export const isFinished = sql.raw("status = 'finished'");
