import { imageTypes, type Capabilities, type ImageType } from "#lib/contract/index";
import { canBuild, reasonNotBuilt, type Wanted } from "#domain/builds/builder-abilities";
import { Refusal } from "#domain/refusal";
import { buildPlaceOf, reasonAgainst, type BaseSystemFacts } from "#model/catalogue";
import type { Appliance } from "#storage/appliances";
import type { Repository } from "#storage/repositories";
import { isUnfinished, type Build } from "#storage/builds";

/** A client's request. Defaults come from the appliance and its builds. */
export interface BuildRequest {
  applianceId: number;
  version?: string | undefined;
  imageType?: string | undefined;
  /** Whether to overwrite an existing image. */
  force: boolean;
  /** Whether to build another format of the version whose build began last and has not failed. */
  multi: boolean;
  /** The image types that the client's API version knows. */
  allowedTypes: readonly ImageType[];
  /** The URL of the service, for pages that a refusal names. */
  baseUrl: string;
  /** Whether the build runs in the background: it waits until all other builds are done, and leaves slots to people. */
  isBackground?: boolean;
  /** The id of a request that may be repeated. */
  requestId?: string | undefined;
  /** The repositories as they were at the moment that the version is named after. By default, as they are now. */
  asOf?: readonly Repository[];
}

/** The version to build. `built` contains the builds of that version (`listDecidingBuilds`), newest first. */
export function chooseVersion(
  appliance: Appliance,
  built: Build[],
  { version, multi, asOf }: Pick<BuildRequest, "version" | "multi" | "asOf">,
): string {
  const latest = built.find((build) => build.status === "finished" || isUnfinished(build));
  const chosen = version ?? (multi ? latest?.version : undefined) ?? appliance.version;
  if (asOf || chosen === appliance.version || built.some((build) => build.version === chosen)) return chosen;
  throw new Refusal("invalid_version", {
    message: `The appliance has no version ${chosen}; its next build will be ${appliance.version}.`,
  });
}

/**
 * Chooses the image type to build. `builders` contains what each kind of builder has reported that it can do. Without a
 * base system, the appliance's status is not ok.
 */
export function chooseImageType(
  { appliance, base }: { appliance: Appliance; base: BaseSystemFacts | undefined },
  builders: readonly Capabilities[],
  request: BuildRequest,
): ImageType {
  const wanted = request.imageType ?? appliance.imageType;
  const known = imageTypes.find((type) => type === wanted);
  if (!known || !request.allowedTypes.includes(known)) {
    throw new Refusal("invalid_image_type", { message: `Pick one of ${request.allowedTypes.join(", ")}.` });
  }
  const why = base && reasonAgainst(base, known);
  if (why !== undefined) throw new Refusal("invalid_image_type", { message: why });
  refuseUnbuildable({ imageType: known, arch: appliance.arch, ...buildPlaceOf(base ?? {}) }, builders);
  return known;
}

/** Refuses a build that no builder can do: it would wait forever. If no builder has reported its capabilities yet, the build is allowed. */
function refuseUnbuildable(wanted: Wanted, builders: readonly Capabilities[]): void {
  const { imageType, arch } = wanted;
  if (builders.length === 0 || builders.some((can) => canBuild(can, wanted))) return;
  const why = reasonNotBuilt(builders, wanted);
  if (why !== undefined) throw new Refusal("configuration_error", { message: why });
  const lacking = builders.flatMap(({ lacking }) =>
    [lacking?.[imageType], lacking?.[arch]].filter((text) => text !== undefined),
  );
  const missing = lacking.length === 0 ? "" : ` They lack: ${[...new Set(lacking)].slice(0, 3).join("; ")}.`;
  const can = imageTypes.filter((type) => builders.some(({ imageTypes }) => imageTypes.includes(type)));
  const arches = [...new Set(builders.flatMap((each) => each.arches))];
  const instead =
    can.length === 0 ? "They can build nothing." : `They can build ${can.join(", ")} for ${arches.join(", ")}.`;
  const message = `No builder of this service can build ${imageType} images for ${arch}.${missing} ${instead}`;
  throw new Refusal("configuration_error", { message });
}

/**
 * The refusal if another build of the appliance prevents this one. With `force`, a build of the same type is
 * overwritten.
 */
export function obstacleTo(
  { version, imageType }: Pick<Build, "version" | "imageType">,
  built: Build[],
  { force }: { force: boolean },
): Refusal | undefined {
  const ofVersion = built.filter((build) => build.version === version);
  const same = ofVersion.find((build) => build.imageType === imageType && occupies(build));
  if (same && !force) {
    const what = same.status === "finished" ? "already built" : "being built";
    const advice = "Pick another version or type, or force the build.";
    return new Refusal("image_already_exists", { message: `Version ${version} is ${what} as ${imageType}. ${advice}` });
  }
  const isFirst = !ofVersion.some(({ status }) => status === "finished");
  const isPending = ofVersion.some((build) => build.imageType !== imageType && isUnfinished(build));
  return isFirst && isPending ? new Refusal("initial_build_pending") : undefined;
}

/**
 * Whether a build occupies its version and type. If retention has removed the image, it can be built again without
 * force.
 */
const occupies = (build: Build) => (build.status === "finished" && build.expiredAt === null) || isUnfinished(build);
