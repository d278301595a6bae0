import type { BuildAdvisories } from "#domain/advisories/of-build";
import type { StartedByPackage } from "#domain/images/boot-services";
import type { BuildUpdates } from "#domain/updates/of-build";
import type { Build } from "#storage/builds";
import type { CheckRun } from "#storage/check-runs";

/** The content of the page below the head. */
export interface Builds {
  applianceId: number;
  /** Whether the appliance's images read data at their first boot. */
  hasFirstBoot: boolean;
  /** Whether the appliance has checks. */
  hasChecks: boolean;
  /** The last run of the checks of each image. */
  checkRuns: readonly CheckRun[];
  /** The versions of the appliance that are in the gallery. */
  publishedVersions: readonly string[];
  /** The last rebuilds of each image, newest first. */
  rebuilds: readonly Build[];
  /** A page of the ended builds, newest first. */
  over: readonly Build[];
  /** The part of the address that makes the page begin with older builds. */
  before: number | undefined;
  /** Whether there are builds that are older than these. */
  hasOlder: boolean;
  /** The updates of one of the images. */
  updates: BuildUpdates | undefined;
  /** The units that start when the image of `updates` boots. */
  services: readonly StartedByPackage[];
  /** The security advisories of that image. */
  advisories: BuildAdvisories | undefined;
  baseUrl: string;
}
