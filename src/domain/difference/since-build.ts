import { evr, FrozenInput, type Firmware, type FrozenPackage, type ImageType } from "#lib/contract/index";
import { examine, type ExaminedAppliance } from "#domain/appliances/status";
import { freezeInput } from "#domain/builds/frozen-input";
import { packageDifference, type ComparedPackage, type PackageChange } from "#domain/difference/packages";
import { settingDifference, type SettingChange } from "#domain/difference/settings";
import { firmwareOfBuild } from "#domain/images/firmware";
import type { Services } from "#domain/services";
import type { EncryptionKey } from "#domain/secrets";
import { listAbilities } from "#storage/agents";
import type { Appliance } from "#storage/appliances";
import type { Repository } from "#storage/repositories";
import { findInput } from "#storage/build-blobs";
import type { Build } from "#storage/builds";

/** The difference between one of an appliance's images and the image that would be built from its current state. */
export interface SinceBuild {
  /** Whether the new image would have the same content. */
  isSame: boolean;
  /** Whether the appliance itself is unchanged, so that only repositories have changed. */
  isSameDefinition: boolean;
  packages: PackageChange[];
  /** Changed settings, including files, keys and repositories. */
  settings: SettingChange[];
  firmware: Firmware;
}

type Asked = Services<Pick<Env, "BLOBS" | "BASE_URL"> & EncryptionKey>;

/**
 * Undefined if the appliance cannot be built now, or if the image's frozen input is gone. `examined` is the appliance
 * as examined for the image's type, if it was examined before.
 */
export async function sinceBuild(
  { env, db }: Asked,
  appliance: Appliance,
  { build, examined }: { build: Build; examined?: ExaminedAppliance | undefined },
): Promise<SinceBuild | undefined> {
  const { version, imageType } = build;
  const [before, { state, software, resolution }] = await Promise.all([
    findInput(env.BLOBS, build.inputSha256),
    examined ?? examineAs({ env, db }, appliance, imageType),
  ]);
  if (!before || state !== "ok") return undefined;
  const wanted = { version, imageType, software, resolution, isOnlyCompared: true };
  const now = await freezeInput({ env, db }, appliance, wanted);
  const settings = settingDifference(before, now);
  const packages = packageDifference(before.packages.map(compared), now.packages.map(compared));
  const isUnedited = appliance.lastEditedAt <= build.createdAt;
  return {
    isSame: contentOf(before) === contentOf(now),
    isSameDefinition: isUnedited || isSameButVersions(before, now, { packages, settings }),
    packages,
    settings,
    firmware: firmwareOfBuild({ needsEfi: now.firmware === "efi", hasSecureBoot: now.hasSecureBoot ?? false }),
  };
}

const examineAs = async (services: Asked, appliance: Appliance, imageType: ImageType): Promise<ExaminedAppliance> =>
  await examine(services, appliance, { imageType, abilities: await listAbilities(services.db) });

/**
 * Whether nothing that decides an image has changed since its build: neither the appliance nor any of its repositories.
 */
export const isUntouchedSince = (
  { createdAt }: Build,
  { lastEditedAt }: Pick<Appliance, "lastEditedAt">,
  repositories: readonly Pick<Repository, "importedAt">[],
): boolean =>
  [lastEditedAt, ...repositories.map(({ importedAt }) => importedAt)].every((at) => at === null || at <= createdAt);

/** The newest image of a type. `images` must be sorted, newest first (`listImages`). */
export const lastImage = (images: readonly Build[], imageType: ImageType): Build | undefined =>
  images.find((image) => image.imageType === imageType);

/** Whether two inputs differ only in the versions of packages, although the appliance was edited. */
const isSameButVersions = (before: FrozenInput, now: FrozenInput, { packages, settings }: Changes): boolean =>
  settings.length === 0 &&
  // No input contains bans, and a ban may remove a package.
  packages.every(({ from, to }) => from && to) &&
  // The description also contains values that the difference of settings omits, such as passwords.
  descriptionOf(before) === descriptionOf(now);

type Changes = Pick<SinceBuild, "packages" | "settings">;

/** The description without its packages, because their versions come from the repositories. */
function descriptionOf({ description }: FrozenInput): string {
  const files = Object.entries(description).toSorted(([one], [other]) => (one < other ? -1 : 1));
  return JSON.stringify(files.map(([path, text]) => [path, text.replaceAll(/<package name=[^>]*>/g, "")]));
}

const compared = (one: FrozenPackage): ComparedPackage => ({
  name: one.name,
  version: evr(one),
  arch: one.arch,
  checksum: `${one.checksum.type}:${one.checksum.value}`,
});

/**
 * Everything that decides the content of an image, as one text. Times, estimates and the state of a mirror are not
 * included.
 */
function contentOf(input: FrozenInput): string {
  const { sourceDate: _, writtenBy: __, configuration, repositories, packages, ...content } = FrozenInput.parse(input);
  return JSON.stringify({
    ...content,
    packages: packages.map(({ control: _control, ...one }) => one),
    repositories: repositories.map(({ name, url }) => ({ name, url })),
    configuration: configuration && { ...configuration, estimatedRawMb: 0 },
  });
}
