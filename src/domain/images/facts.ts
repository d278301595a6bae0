import { createHash } from "node:crypto";
import {
  frozenLimits,
  type FrozenFile,
  type FrozenKey,
  type FrozenPackage,
  type Firmware,
  type ImageType,
} from "#lib/contract/index";
import { decrypted } from "#domain/configuration/secrets";
import type { EncryptionKey } from "#domain/secrets";
import { plainArmour } from "#domain/contents/gpg-key";
import { overlayPath } from "#domain/contents/overlay-file-metadata";
import { withoutPasswords } from "#domain/images/password-facts";
import type { Services } from "#domain/services";
import { Refusal } from "#domain/refusal";
import type { ImageFacts } from "#lib/kiwi/facts";
import { configurationOf } from "#lib/configuration/stored";
import type { Appliance } from "#storage/appliances";
import { contentKey } from "#storage/blobs";
import { listGpgKeys } from "#storage/gpg-keys";
import { listOverlayFiles, type OverlayFile } from "#storage/overlay-files";

/** Facts that are known before the configuration is read. */
interface Asked {
  version: string;
  imageType: ImageType;
  /** The image's name in KIWI. */
  name: string;
  packages: FrozenPackage[];
  firmware?: Firmware;
  hasUnifiedKernel?: boolean;
  bootstrap: string[] | null;
}

/** Everything that describes the image of an appliance. Passwords are hashed. */
export async function imageFacts(
  { env, db }: Services<Pick<Env, "BLOBS"> & EncryptionKey>,
  appliance: Appliance,
  asked: Asked,
): Promise<{ facts: ImageFacts; keys: FrozenKey[] }> {
  const [configuration, overlay, keys] = await Promise.all([
    decrypted(env, configurationOf(appliance)),
    frozenFiles({ env, db }, appliance),
    listGpgKeys(db, appliance.id),
  ]);
  const { users, databases, tags: _, ...rest } = configuration;
  const facts = {
    ...rest,
    ...asked,
    arch: appliance.arch,
    title: appliance.name,
    ...(await withoutPasswords(env, appliance.id, { users, databases })),
    overlay,
  };
  const frozenKeys = keys.map(async ({ name, fingerprint, key }) => ({
    name,
    fingerprint,
    armour: await plainArmour(key),
  }));
  return { facts, keys: await Promise.all(frozenKeys) };
}

/** Pictures come first, so that an overlay file at the same path replaces them. */
async function frozenFiles(
  { env, db }: Services<Pick<Env, "BLOBS"> & EncryptionKey>,
  appliance: Appliance,
): Promise<FrozenFile[]> {
  const [logo, background, files] = await Promise.all([
    frozenPicture(env, "logo", appliance.logoBlob),
    frozenPicture(env, "background", appliance.backgroundBlob),
    listOverlayFiles(db, appliance.id),
  ]);
  const enabled = files.filter((file) => file.enabled);
  if (enabled.length > frozenLimits.files - 2) throw tooManyFiles();
  return [logo ?? [], background ?? [], enabled.map(frozenFile)].flat();
}

function frozenFile(file: OverlayFile): FrozenFile {
  const { permissions: mode, owner, group, size, sha256, blobId } = file;
  return { path: overlayPath(file), mode, owner, group, size, sha256, blobId };
}

/** The appliance's own picture. Images do not contain the service's default pictures. */
async function frozenPicture(
  env: Pick<Env, "BLOBS">,
  kind: "logo" | "background",
  blobId: string | null,
): Promise<FrozenFile | undefined> {
  if (blobId === null) return undefined;
  const picture = await env.BLOBS.get(contentKey(blobId));
  if (!picture) throw new Error(`the ${kind} ${blobId} is gone`);
  const bytes = new Uint8Array(await picture.arrayBuffer());
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const whose = { mode: 0o644, owner: "root", group: "root" };
  return { path: `/usr/share/kiln/${kind}.png`, ...whose, size: bytes.byteLength, sha256, blobId };
}

const tooManyFiles = () =>
  new Refusal("configuration_error", {
    message: "The appliance has too many overlay files: a build can include at most 9998.",
  });
