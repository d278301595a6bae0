import { imageTypes, type FrozenInput, type ImageType } from "#lib/contract/index";
import type { Services } from "#domain/services";
import { Refusal } from "#domain/refusal";
import { uuidOf } from "#domain/uuid";
import type { Appliance } from "#storage/appliances";
import { findInput } from "#storage/build-blobs";
import { listBuildsOfAppliance, type Build } from "#storage/builds";

/** Everything that a finished build was made from, without password hashes if the reader is not its owner. */
export interface Manifest {
  /** Unique to the build, and always the same. */
  uuid: string;
  applianceUuid: string;
  build: Build;
  input: FrozenInput;
}

interface WantedManifest {
  imageType: string;
  version?: string | undefined;
  allowedTypes: readonly ImageType[];
}

/** The manifest of the newest finished build of that type, or of that type and version. */
export async function getManifest(
  { env, db }: Services<Pick<Env, "BLOBS">>,
  appliance: Appliance,
  { readerId, ...wanted }: WantedManifest & { readerId: number },
): Promise<Manifest> {
  const built = await listBuildsOfAppliance(db, appliance.id);
  const build = chosen(
    built.filter(({ status }) => status === "finished"),
    wanted,
  );
  const input = build.expiredAt === null ? await findInput(env.BLOBS, build.inputSha256) : undefined;
  if (!input) throw new Refusal("build_not_found");
  const uuid = await uuidOf(appliance.uuid, `build ${build.id}`);
  const shown = build.accountId === readerId ? input : withoutHashes(input);
  return { uuid, applianceUuid: appliance.uuid, build, input: shown };
}

/** Kiln itself wrote the description, so no text in it contains an unescaped quote. */
const withoutHashes = (input: FrozenInput): FrozenInput => {
  const kiwi = input.description["config.xml"]?.replaceAll(/ password="[^"]*"/g, ' password=""');
  return { ...input, description: { ...input.description, ...(kiwi !== undefined && { "config.xml": kiwi }) } };
};

function chosen(finished: Build[], { imageType, version, allowedTypes }: WantedManifest): Build {
  const known = imageTypes.find((type) => type === imageType && allowedTypes.includes(type));
  const ofVersion = finished.filter((build) => version === undefined || build.version === version);
  const build = ofVersion.find((one) => one.imageType === known);
  if (build) return build;
  const isVersionAtFault = known !== undefined && ofVersion.length === 0 && finished.length > 0;
  if (isVersionAtFault) {
    throw new Refusal("invalid_version", { message: `Version ${version} of the appliance has not been built.` });
  }
  const types = [...new Set(ofVersion.map((one) => one.imageType))].join(", ");
  throw new Refusal("invalid_image_type", {
    message: types === "" ? "Nothing of the appliance has been built." : `It has been built as ${types}.`,
  });
}
