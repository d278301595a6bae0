import { completeCheck, isInProgress, sentenceOfCheck, type Check } from "#lib/contract/index";
import { Refusal } from "#domain/refusal";
import { whyNoTestdrive } from "#domain/testdrives/testdrive";
import { configurationOf } from "#lib/configuration/stored";
import type { Appliance } from "#storage/appliances";
import type { Build } from "#storage/builds";
import { listBuildsOfVersion, listImages } from "#storage/builds-of-appliance";
import { listLastCheckRuns, type CheckRun } from "#storage/check-runs";
import type { Database } from "#storage/db";

/**
 * Refuses to publish a version, or to put it at the head of a channel, if its appliance requires checks and one of its
 * images has not passed them. Images that cannot be booted are not checked, but a version with only such images is
 * refused.
 */
export async function refuseUnchecked(
  db: Database,
  appliance: Appliance,
  { version, act }: { version: string; act: "be published" | "be at the head of a channel" },
): Promise<void> {
  if (configurationOf(appliance).settings.publishWhen === "always") return;
  const images = await listBuildsOfVersion(db, appliance.id, version);
  const problem = problemOf(version, await findingsOf(db, appliance, images));
  if (!problem) return;
  const message = `Version ${problem.what} cannot ${act}: ${problem.why}.`;
  throw new Refusal("unknown_error", { message });
}

/** The versions whose images have passed the appliance's current checks. If there are no checks, all versions. */
export async function passedVersions(
  db: Database,
  appliance: Appliance,
  versions: readonly string[],
): Promise<readonly string[]> {
  if (versions.length === 0 || configurationOf(appliance).checks.length === 0) return versions;
  const images = (await listImages(db, appliance.id)).filter(({ version }) => versions.includes(version));
  const findings = await findingsOf(db, appliance, images);
  return versions.filter((version) => problemOf(version, findings) === undefined);
}

/** Why a built version has not passed the checks, as the end of a sentence. `isPending`: it may still pass. */
export async function whyNotPassed(
  db: Database,
  appliance: Appliance,
  version: string,
): Promise<{ text: string; isPending: boolean } | undefined> {
  if (configurationOf(appliance).checks.length === 0) return undefined;
  const images = await listBuildsOfVersion(db, appliance.id, version);
  const findings = await findingsOf(db, appliance, images);
  const problem = problemOf(version, findings);
  if (!problem) return undefined;
  const { runs } = findings;
  const hasFailed = runs.some((run) => !isInProgress(run) && run.state !== "passed");
  const isPending = !hasFailed && (runs.length < findings.images.length || runs.some(isInProgress));
  return { text: `${problem.what} is not released, because ${problem.why}`, isPending };
}

/** The bootable images of versions, and the last run of each. */
interface Findings {
  images: readonly Build[];
  runs: readonly CheckRun[];
  checks: readonly Check[];
}

async function findingsOf(db: Database, appliance: Appliance, all: readonly Build[]): Promise<Findings> {
  const images = all.filter(
    ({ status, expiredAt, imageType }) =>
      status === "finished" && expiredAt === null && whyNoTestdrive(imageType) === undefined,
  );
  const ids = images.map(({ id }) => id);
  return { images, runs: await listLastCheckRuns(db, ids), checks: configurationOf(appliance).checks };
}

/** The image that has not passed, and the reason. Undefined if all have passed. */
function problemOf(version: string, { images, runs, checks }: Findings): { what: string; why: string } | undefined {
  const ofVersion = images.filter((image) => image.version === version);
  if (ofVersion.length === 0) {
    return { what: version, why: "none of its images can be booted, so nothing can be checked" };
  }
  return ofVersion
    .map((image) => {
      const run = runs.find(({ buildId }) => buildId === image.id);
      return { what: `${version} (${image.imageType})`, why: whyRunNotPassed(run, checks) };
    })
    .find((image): image is { what: string; why: string } => image.why !== undefined);
}

/** Why an image has not passed the appliance's current checks, without a full stop. Undefined if it has. */
function whyRunNotPassed(run: CheckRun | undefined, checks: readonly Check[]): string | undefined {
  if (!run) return "its checks have not run yet";
  if (isInProgress(run)) return "its checks have not ended yet";
  if (run.state === "failed") return `a check failed: ${firstFailed(run)}`;
  if (run.state === "error") return "its checks could not be run. Run them again";
  // A run from before a field was added to checks lacks that field.
  const hasChanged = JSON.stringify(run.checks.map(completeCheck)) !== JSON.stringify(checks.map(completeCheck));
  return hasChanged ? "its checks have changed since they ran. Run them again" : undefined;
}

function firstFailed({ checks, results }: CheckRun): string {
  const failed = checks.find((_, index) => results?.[index]?.outcome === "failed");
  return failed ? sentenceOfCheck(failed).replace(/\.$/, "") : "";
}
