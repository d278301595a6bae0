import type { Check } from "#lib/contract/index";
import { makeOnce } from "#domain/accounts/idempotency";
import { callAgents } from "#domain/checks/attempt";
import { Refusal } from "#domain/refusal";
import type { Services } from "#domain/services";
import { whyNoTestdrive } from "#domain/testdrives/testdrive";
import { configurationOf } from "#lib/configuration/stored";
import { findAppliance } from "#storage/appliances";
import { findBuild, findBuildByUid, type Build } from "#storage/builds";
import { addCheckRun, findCheckRunByUid, listCheckRuns, type CheckRun } from "#storage/check-runs";

interface RunRequest {
  buildId: number;
  requestId?: string | undefined;
}

/** Starts a run of the appliance's checks on an image. If a run is in progress, returns that one. */
export async function requestChecks(
  services: Services,
  accountId: number,
  { buildId, requestId }: RunRequest,
): Promise<CheckRun> {
  const { env, db } = services;
  const build = await findOwnBuild(services, accountId, buildId);
  const checks = await checksFor(services, build);
  if (typeof checks === "string") throw new Refusal("build_not_found", { message: checks });
  return await makeOnce(requestId, {
    find: (uid) => findCheckRunByUid(db, uid),
    make: async () => {
      const added = await addRun(services, build, { uid: requestId ?? crypto.randomUUID(), checks });
      if (added) await callAgents(env, added);
      const run = added ?? (await listCheckRuns(db, buildId))[0];
      if (!run) throw new Refusal("unknown_error", { message: "The run has just ended. Please try again." });
      return run;
    },
  });
}

/** The runs on an image, newest first. */
export async function checkRunsOf(services: Services, accountId: number, buildId: number): Promise<CheckRun[]> {
  await findOwnBuild(services, accountId, buildId);
  return await listCheckRuns(services.db, buildId);
}

/** Starts the checks of a build that has just finished. Safe to repeat: they are started only once per build. */
export async function checkFinished(services: Services, buildUid: string): Promise<void> {
  const build = await findBuildByUid(services.db, buildUid);
  if (!build) return;
  const checks = await checksFor(services, build);
  if (typeof checks === "string") return;
  const run = await addRun(services, build, { uid: `build-${buildUid}`, checks });
  if (run) await callAgents(services.env, run);
}

async function findOwnBuild({ db }: Services, accountId: number, buildId: number): Promise<Build> {
  const build = await findBuild(db, accountId, buildId);
  if (!build) throw new Refusal("invalid_build_id", { reason: "unknown" });
  return build;
}

/**
 * The appliance's current checks, so that a corrected check needs no new build. If nothing can be checked in the image,
 * the result is the reason, as a sentence.
 */
async function checksFor({ db }: Pick<Services, "db">, build: Build): Promise<Check[] | string> {
  if (build.status !== "finished" || build.imageKey === null) return "The build has no image.";
  const appliance = await findAppliance(db, build.accountId, build.applianceId);
  const checks = appliance ? configurationOf(appliance).checks : [];
  if (checks.length === 0) return "The appliance has no checks. Add one to its configuration.";
  return whyNoTestdrive(build.imageType) ?? [...checks];
}

const addRun = ({ db }: Services, { accountId, id: buildId }: Build, run: { uid: string; checks: Check[] }) =>
  addCheckRun(db, { ...run, accountId, buildId, wakeAt: new Date() });
