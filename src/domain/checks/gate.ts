import { isInProgress, sentenceOfCheck, type Check } from "#lib/contract/index";
import { Refusal } from "#domain/refusal";
import { whyNoTestdrive } from "#domain/testdrives/testdrive";
import { configurationOf } from "#lib/configuration/stored";
import type { Appliance } from "#storage/appliances";
import type { Build } from "#storage/builds";
import { listBuildsOfVersion } from "#storage/builds-of-appliance";
import { listLastCheckRuns, type CheckRun } from "#storage/check-runs";
import type { Database } from "#storage/db";

/**
 * Refuses to publish a version if its appliance demands checks, and an image of it has not passed them. An image that
 * cannot be booted is not checked, but a version with only such images is refused.
 */
export async function refuseUnchecked(db: Database, appliance: Appliance, version: string): Promise<void> {
  const { checks, settings } = configurationOf(appliance);
  if (settings.publishWhen === "always") return;
  const images = (await listBuildsOfVersion(db, appliance.id, version)).filter(
    ({ status, expiredAt }) => status === "finished" && expiredAt === null,
  );
  const bootable = images.filter(({ imageType }) => whyNoTestdrive(imageType) === undefined);
  if (bootable.length === 0) throw unchecked(version, "none of its images can be booted, so nothing can be checked");
  const runs = await listLastCheckRuns(
    db,
    bootable.map(({ id }) => id),
  );
  for (const build of bootable) {
    const why = whyNotPassed(
      runs.find(({ buildId }) => buildId === build.id),
      checks,
    );
    if (why !== undefined) throw unchecked(nameOf(build), why);
  }
}

const nameOf = ({ version, imageType }: Build): string => `${version} (${imageType})`;

const unchecked = (what: string, why: string) =>
  new Refusal("unknown_error", { message: `Version ${what} cannot be published: ${why}.` });

/** Why an image has not passed the checks that the appliance has now, without a full stop. Undefined if it has. */
function whyNotPassed(run: CheckRun | undefined, checks: readonly Check[]): string | undefined {
  if (!run) return "its checks have not run yet";
  if (isInProgress(run)) return "its checks have not ended yet";
  if (run.state === "failed") return `a check failed: ${firstFailed(run)}`;
  if (run.state === "error") return "its checks could not be run. Run them again";
  const hasChanged = JSON.stringify(run.checks) !== JSON.stringify(checks);
  return hasChanged ? "its checks have changed since they ran. Run them again" : undefined;
}

function firstFailed({ checks, results }: CheckRun): string {
  const failed = checks.find((_, index) => results?.[index]?.outcome === "failed");
  return failed ? sentenceOfCheck(failed).replace(/\.$/, "") : "";
}
