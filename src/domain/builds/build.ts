import type { Services } from "#domain/services";
import type { ImageType } from "#lib/contract/index";
import { getAppliance } from "#domain/appliances/appliance";
import { withLink, type LinkReader } from "#domain/builds/download-link";
import { waiting } from "#domain/builds/why-waiting";
import { secondsBetween, type Progress } from "#domain/builds/progress";
import { withPlaceInQueue } from "#domain/builds/queue";
import { Refusal } from "#domain/refusal";
import type { Appliance } from "#storage/appliances";
import {
  findAnyBuild,
  findBuild,
  findReadableBuild,
  isUnfinished,
  listUnfinishedOf,
  type Build,
} from "#storage/builds";
import { listRunningBuilds } from "#storage/builds-of-appliance";
import type { Database } from "#storage/db";
import { listRunningRebuilds } from "#storage/rebuilds";

/** A running build as a user sees it, even after it has ended. */
export interface WatchedBuild extends Progress {
  id: number;
  applianceId: number;
  version: string;
  imageType: ImageType;
}

/** A build that is running or has ended. It keeps its id when it ends. */
export async function watchBuild({ env, db }: Services, accountId: number, id: number): Promise<WatchedBuild> {
  const build = await getRunningBuild(db, accountId, id);
  return await withProgress({ env, db }, build);
}

export async function watchBuilds(
  { env, db }: Services,
  accountId: number,
  applianceId: number,
): Promise<WatchedBuild[]> {
  const appliance = await getAppliance(db, accountId, applianceId, "invalid");
  if (appliance.accountId === null) return [];
  return await watchThese({ env, db }, await listRunningBuilds(db, appliance.id));
}

/** All unfinished builds of an account, oldest first. With `only`, just those of one appliance. */
export async function watchAllBuilds(
  { env, db }: Services,
  accountId: number,
  only: number | null,
): Promise<WatchedBuild[]> {
  return await watchUnfinished({ env, db }, await listUnfinishedOf(db, accountId), only);
}

/** Watches these unfinished builds, which were read before. */
export const watchUnfinished = (
  services: Services,
  unfinished: readonly Build[],
  only: number | null,
): Promise<WatchedBuild[]> =>
  watchThese(
    services,
    unfinished.filter(({ applianceId, rebuildOf }) => rebuildOf === null && (only === null || applianceId === only)),
  );

async function watchThese({ env, db }: Services, unfinished: Build[]): Promise<WatchedBuild[]> {
  const all = await Promise.all(unfinished.map((build) => withProgress({ env, db }, build)));
  return all.filter((build) => isUnfinished({ status: build.state }));
}

/** Cancels an unfinished build. Repeating it is safe, and a build that has ended stays as it is. */
export async function cancelBuild({ env, db }: Services, accountId: number, id: number): Promise<void> {
  const build = await getRunningBuild(db, accountId, id);
  if (build.accountId !== accountId) throw new Refusal("access_denied");
  if (isUnfinished(build)) await buildObject(env, build).cancel();
}

/** Cancels an unfinished build of any account, for the operator. */
export async function cancelAnyBuild({ env, db }: Services, id: number): Promise<void> {
  const build = await findAnyBuild(db, id);
  if (!build) throw new Refusal("invalid_running_build_id", { reason: "unknown" });
  if (isUnfinished(build)) await buildObject(env, build).cancel();
}

/** Cancels the builds of an appliance before it is deleted. */
export async function cancelBuildsOf(
  { env, db }: Services,
  { id, accountId }: Pick<Appliance, "id" | "accountId">,
): Promise<void> {
  const rebuilds = accountId === null ? [] : await listRunningRebuilds(db, accountId, id);
  const builds = [...(await listRunningBuilds(db, id)), ...rebuilds];
  await Promise.all(builds.map((build) => buildObject(env, build).cancel()));
}

/** A build that has ended, of an appliance that this account may read. */
export async function getBuild(db: Database, reader: LinkReader, id: number): Promise<Build> {
  const build = await findReadableBuild(db, reader.account.id, id);
  if (!build || isUnfinished(build)) throw new Refusal("invalid_build_id", { reason: "unknown" });
  return withLink(build, build.accountId, reader);
}

/** A build, running or ended, of an appliance that this account may read. */
export async function getRunningBuild(db: Database, accountId: number, id: number): Promise<Build> {
  const build = await findReadableBuild(db, accountId, id);
  if (!build) throw new Refusal("invalid_running_build_id", { reason: "unknown" });
  return build;
}

/** Whether an account may still follow a build. Its appliance may no longer be shared with the account. */
export const stillReads = async (db: Database, accountId: number, build: Build): Promise<boolean> =>
  build.accountId === accountId || (await findReadableBuild(db, accountId, build.id)) !== undefined;

export type { Progress };

/** The object of a build. It is authoritative while the build runs. */
export const buildObject = (env: Pick<Env, "BUILDS">, { uid }: Pick<Build, "uid">) => env.BUILDS.getByName(uid);

async function withProgress({ env, db }: Services, build: Build): Promise<WatchedBuild> {
  if (!isUnfinished(build)) return watched(build);
  const progress = await buildObject(env, build).progress();
  if (progress && isUnfinished({ status: progress.state })) {
    return await withPlaceInQueue(db, build.id, { ...watched(build), ...progress });
  }
  // The build ended in the meantime. Its object updated D1 before it answered.
  return watched((await findBuild(db, build.accountId, build.id)) ?? build);
}

/** A build according to its row. */
export const watched = (build: Build): WatchedBuild => ({
  id: build.id,
  applianceId: build.applianceId,
  version: build.version,
  imageType: build.imageType,
  state: build.status,
  percent: build.status === "finished" ? 100 : build.percent,
  secondsElapsed: secondsOf(build),
  message: build.message || waiting,
});

const secondsOf = ({ startedAt, completedAt }: Build): number =>
  completedAt ? secondsBetween(startedAt?.getTime() ?? null, completedAt.getTime()) : 0;
