import { imageTypes, type ImageType } from "#contract/index";
import { Refusal } from "#domain/refusal";
import type { Agent } from "#storage/agents";
import type { Appliance } from "#storage/appliances";
import { isUnfinished, type Build } from "#storage/builds";

/** What a client asks for; absent parameters have their defaults in the appliance and its builds. */
export interface BuildRequest {
  applianceId: number;
  version?: string | undefined;
  imageType?: string | undefined;
  /** Overwrite what is there. */
  force: boolean;
  /** Another format of the version that was built last. */
  multi: boolean;
  /** Image types that the client's API version knows. */
  allowedTypes: readonly ImageType[];
}

/** Types that this release of Kiln describes; what agents announce can only narrow them. */
const builtTypes: readonly ImageType[] = ["oem", "iso"];

/** The version to build. `built`: the appliance's builds, newest first. */
export function chooseVersion(appliance: Appliance, built: Build[], { version, multi }: BuildRequest): string {
  const latest = built.find(({ status }) => status === "finished");
  const chosen = version ?? (multi ? latest?.version : undefined) ?? appliance.version;
  if (chosen === appliance.version || built.some((build) => build.version === chosen)) return chosen;
  throw new Refusal("invalid_version", {
    message: `The appliance has no version ${chosen}; its next build is ${appliance.version}.`,
  });
}

/** The image type to build. `agents`: all that ever said hello. */
export function chooseImageType(appliance: Appliance, agents: Agent[], request: BuildRequest): ImageType {
  const wanted = request.imageType ?? appliance.imageType;
  const known = imageTypes.find((type) => type === wanted);
  if (!known || !request.allowedTypes.includes(known)) {
    throw new Refusal("invalid_image_type", { message: `Pick one of ${request.allowedTypes.join(", ")}.` });
  }
  if (buildable(agents).includes(known)) return known;
  throw new Refusal("invalid_image_type", {
    message: `No builder of this service can build ${known} images; it builds ${buildable(agents).join(", ")}.`,
  });
}

function buildable(agents: Agent[]): ImageType[] {
  const announced = agents.flatMap(({ capabilities }) => capabilities?.imageTypes ?? []);
  return announced.length === 0 ? [...builtTypes] : imageTypes.filter((type) => announced.includes(type));
}

/** Which of the appliance's other builds stands in the way of this one; `force` overwrites the same type's. */
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

const occupies = (build: Build) => build.status === "finished" || isUnfinished(build);
