import { imageTypes, type FrozenInput, type ImageType } from "#lib/contract/index";
import type { Services } from "#domain/services";
import { Refusal } from "#domain/refusal";
import { uuidOf } from "#domain/uuid";
import type { Appliance } from "#storage/appliances";
import { findInput } from "#storage/build-blobs";
import type { Build } from "#storage/builds";
import { findFinishedBuild, listBuildsOfVersion, listImages } from "#storage/builds-of-appliance";
import type { Database } from "#storage/db";

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
  const build = await chosen(db, appliance.id, wanted);
  const input = build.expiredAt === null ? await findInput(env.BLOBS, build.inputSha256) : undefined;
  if (!input) throw new Refusal("build_not_found");
  const uuid = await uuidOf(appliance.uuid, `build ${build.id}`);
  const shown = build.accountId === readerId ? input : withoutHashes(input);
  return { uuid, applianceUuid: appliance.uuid, build, input: shown };
}

/** Removes password hashes. Kiln itself wrote the description, so no text in it contains an unescaped quote. */
const withoutHashes = (input: FrozenInput): FrozenInput => {
  const kiwi = input.description["config.xml"]?.replaceAll(/ password="[^"]*"/g, ' password=""');
  return { ...input, description: { ...input.description, ...(kiwi !== undefined && { "config.xml": kiwi }) } };
};

async function chosen(
  db: Database,
  applianceId: number,
  { imageType, version, allowedTypes }: WantedManifest,
): Promise<Build> {
  const known = imageTypes.find((type) => type === imageType && allowedTypes.includes(type));
  const built = await (version === undefined
    ? listImages(db, applianceId)
    : listBuildsOfVersion(db, applianceId, version));
  const finished = built.filter(({ status }) => status === "finished");
  const build =
    finished.find((one) => one.imageType === known) ??
    (known && version === undefined ? await findFinishedBuild(db, applianceId, known) : undefined);
  if (build) return build;
  if (known !== undefined && version !== undefined && finished.length === 0) {
    throw new Refusal("invalid_version", { message: `Version ${version} of the appliance has not been built.` });
  }
  const types = [...new Set(finished.map((one) => one.imageType))].join(", ");
  throw new Refusal("invalid_image_type", {
    message: types === "" ? "The appliance has no image." : `It has been built as ${types}.`,
  });
}
