import { exposedBy, exposedNow, isCloned, type ExposedSecret } from "#domain/appliances/exposed-secrets";
import { hashChecker, knownPasswords, passwordsIn } from "#domain/configuration/known-passwords";
import { decrypted } from "#domain/configuration/secrets";
import type { Services } from "#domain/services";
import { Refusal } from "#domain/refusal";
import type { EncryptionKey } from "#domain/secrets";
import { rest } from "#lib/loop/pace";
import { configurationOf, type Configuration } from "#lib/configuration/stored";
import { exposedKinds } from "#model/exposed-secrets";
import type { Appliance } from "#storage/appliances";
import { findInput } from "#storage/build-blobs";
import type { Build } from "#storage/builds";
import { listBuildsOfVersion, listImages } from "#storage/builds-of-appliance";
import type { Database } from "#storage/db";
import { listOverlayFiles, type OverlayFile } from "#storage/overlay-files";

export interface SharingWarning extends ExposedSecret {
  /** Whether the appliance contains it now, so that its next build will, too. */
  isCurrent: boolean;
  /** Built versions that contain the secret, newest first. */
  versions: string[];
}

export interface SharingWarnings {
  applianceId: number;
  warnings: SharingWarning[];
  /** Whether every image was checked. */
  isComplete: boolean;
}

/** How many frozen inputs one request reads at most. Each may have a megabyte. */
const maxInputs = 10;

/**
 * The secrets that others would learn from the appliance and its images if the appliance is shared. With a version, the
 * secrets that they would learn if that version is published. Passwords of the template that it descends from are not
 * secrets. `read` is data that was read before.
 */
export async function sharingWarnings(
  { env, db }: Services<Pick<Env, "BLOBS"> & EncryptionKey>,
  appliance: Appliance,
  version: string | undefined,
  read?: { images: Build[]; files: OverlayFile[]; template: Configuration | undefined },
): Promise<SharingWarnings> {
  const [images, known, configuration, files] = await Promise.all([
    imagesOf(db, appliance, { version, all: read?.images }),
    read ? passwordsIn(env, read.template) : knownPasswords({ env, db }, appliance),
    decrypted(env, configurationOf(appliance)),
    read?.files ?? listOverlayFiles(db, appliance.id),
  ]);
  const found = new Warnings();
  const now = exposedNow(configuration, files, known);
  // A clone of a published version gets the current files and scripts.
  for (const each of now) if (version === undefined || isCloned(each)) found.add(each);
  const isKnown = hashChecker(known);
  for (const build of images.slice(0, maxInputs)) {
    const input = await findInput(env.BLOBS, build.inputSha256);
    await rest();
    if (input) for (const each of exposedBy(input, isKnown)) found.add(each, build.version);
  }
  return { applianceId: appliance.id, warnings: found.all(), isComplete: images.length <= maxInputs };
}

/** One build for each frozen input, if its image can be downloaded, newest first. */
async function imagesOf(
  db: Database,
  { id }: Appliance,
  { version, all }: { version: string | undefined; all: Build[] | undefined },
): Promise<Build[]> {
  const built = await (version === undefined ? (all ?? listImages(db, id)) : listBuildsOfVersion(db, id, version));
  const builds = built.filter(({ status, expiredAt }) => status === "finished" && expiredAt === null);
  if (version !== undefined && builds.length === 0) throw new Refusal("invalid_version");
  return [...new Map(builds.map((build) => [build.inputSha256, build])).values()];
}

/** Collects each secret once, wherever it was found. */
class Warnings {
  readonly #found = new Map<string, SharingWarning>();

  /** Without a version, the secret is in the appliance itself. */
  add({ kind, name }: ExposedSecret, version?: string): void {
    const key = `${kind} ${name}`;
    const warning = this.#found.get(key) ?? { kind, name, isCurrent: false, versions: [] };
    this.#found.set(key, warning);
    if (version === undefined) warning.isCurrent = true;
    else if (!warning.versions.includes(version)) warning.versions.push(version);
  }

  all(): SharingWarning[] {
    const order = (one: SharingWarning) => exposedKinds.indexOf(one.kind);
    return [...this.#found.values()].toSorted((one, other) => order(one) - order(other));
  }
}
