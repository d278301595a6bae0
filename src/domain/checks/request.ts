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

/** Starts a run of the appliance's checks on an image. If one is in progress, returns that one. */
export async function requestChecks(
  services: Services,
  accountId: number,
  { buildId, requestId }: RunRequest,
): Promise<CheckRun> {
  const { env, db } = services;
  const build = await findOwnBuild(services, accountId, buildId);
  const why = await whyNotChecked(services, build);
  if (why !== undefined) throw new Refusal("build_not_found", { message: why });
  return await makeOnce(requestId, {
    find: (uid) => findCheckRunByUid(db, uid),
    make: async () => {
      const added = await addRun(services, build, requestId ?? crypto.randomUUID());
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

/** Starts the checks of a build that has just finished. Safe to repeat: each build starts them once. */
export async function checkFinished(services: Services, buildUid: string): Promise<void> {
  const build = await findBuildByUid(services.db, buildUid);
  if (!build || (await whyNotChecked(services, build)) !== undefined) return;
  const run = await addRun(services, build, `build-${buildUid}`);
  if (run) await callAgents(services.env, run);
}

async function findOwnBuild({ db }: Services, accountId: number, buildId: number): Promise<Build> {
  const build = await findBuild(db, accountId, buildId);
  if (!build) throw new Refusal("invalid_build_id", { reason: "unknown" });
  return build;
}

/** Why nothing can be checked in an image, as a sentence. Undefined if it can. */
async function whyNotChecked(services: Services, build: Build): Promise<string | undefined> {
  if (build.status !== "finished" || build.imageKey === null) return "The build has no image.";
  const checks = await checksOf(services, build);
  if (checks.length === 0) return "The appliance has no checks. Add one to its configuration.";
  return whyNoTestdrive(build.imageType);
}

/** The checks that the appliance has now: a check that was corrected runs without a new build. */
async function checksOf({ db }: Pick<Services, "db">, { accountId, applianceId }: Build) {
  const appliance = await findAppliance(db, accountId, applianceId);
  return appliance ? configurationOf(appliance).checks : [];
}

async function addRun(services: Services, build: Build, uid: string): Promise<CheckRun | undefined> {
  const checks = await checksOf(services, build);
  const { accountId, id: buildId } = build;
  return await addCheckRun(services.db, { uid, accountId, buildId, checks: [...checks], wakeAt: new Date() });
}
