import type { ImageType } from "#lib/contract/index";
import type { Issue } from "#domain/appliances/issue";
import { wrongValues } from "#domain/configuration/check";
import type { Configuration } from "#lib/configuration/stored";
import { updatesItself } from "#lib/kiwi/automatic-updates";
import { encryptsDisk } from "#lib/kiwi/disk-encryption";
import { hasOtherFileSystem } from "#lib/kiwi/file-system";
import { hasCloudInit } from "#lib/kiwi/first-boot";
import { hasIgnition } from "#lib/kiwi/ignition";
import type { BaseSystemFacts } from "#model/catalogue";
import { findBaseSystem, type Appliance } from "#storage/appliances";
import type { Database } from "#storage/db";

/**
 * The settings that have no effect without packages of the base system. The base system's fact of the same name lists
 * them.
 */
export type SettingOfBase = "firstBoot" | "automaticUpdates" | "diskEncryption" | "fileSystem";

/** The image type and the settings, which together decide which packages are added. */
export interface ImageSettings {
  imageType: ImageType;
  settings: Pick<Configuration["settings"], SettingOfBase>;
}

interface Rule {
  /** The setting's path in the configuration document. */
  path: string;
  /** The value for which no packages are needed. */
  plain: string;
  /** The beginning of a sentence about the setting. */
  subject: string;
  /** The purpose of the packages, as a noun. By default, the chosen value. */
  purpose?: string;
  isIn: (image: ImageSettings) => boolean;
  /** Why images of some types lack the chosen value. */
  whyNotInType: (settings: ImageSettings["settings"]) => string;
}

const rules: Readonly<Record<SettingOfBase, Rule>> = {
  firstBoot: {
    path: "settings/first_boot",
    plain: "none",
    subject: "The first boot",
    isIn: (image) => hasCloudInit(image) || hasIgnition(image),
    whyNotInType: ({ firstBoot }) =>
      firstBoot === "ignition" ? "Ignition was tried only on disks for QEMU" : "it has no first boot",
  },
  automaticUpdates: {
    path: "settings/automatic_updates",
    plain: "none",
    subject: "Automatic updates",
    purpose: "automatic updates",
    isIn: updatesItself,
    whyNotInType: () => "it has no disk that keeps them",
  },
  diskEncryption: {
    path: "settings/disk_encryption",
    plain: "none",
    subject: "Encryption of the disk",
    purpose: "disk encryption",
    isIn: encryptsDisk,
    whyNotInType: () => "only a disk that boots as it was built can encrypt itself",
  },
  fileSystem: {
    path: "settings/file_system",
    plain: "ext4",
    subject: "The file system",
    isIn: hasOtherFileSystem,
    whyNotInType: () => "only a disk that boots as it was built can have it",
  },
};

const names = Object.keys(rules) as SettingOfBase[];

const purposeOf = (name: SettingOfBase, settings: ImageSettings["settings"]): string =>
  rules[name].purpose ?? settings[name];

type Base = Pick<BaseSystemFacts, "title" | SettingOfBase>;

/** The packages of the base system for one setting. Undefined if Kiln knows none. */
function packagesFor(base: Pick<BaseSystemFacts, SettingOfBase>, name: SettingOfBase, value: string) {
  const known: Readonly<Partial<Record<string, string[]>>> = base[name] ?? {};
  return known[value];
}

/** The packages that the settings add to an image. */
export const packagesOfSettings = (base: Pick<BaseSystemFacts, SettingOfBase>, image: ImageSettings): string[] =>
  names
    .filter((name) => rules[name].isIn(image))
    .flatMap((name) => packagesFor(base, name, image.settings[name]) ?? []);

/** The settings that the base system does not support, each with the reason, without a full stop. */
const whyNotOnBase = (settings: ImageSettings["settings"], base: Base) =>
  names
    .filter((name) => settings[name] !== rules[name].plain && packagesFor(base, name, settings[name]) === undefined)
    .map((name) => {
      const { path, plain } = rules[name];
      const purpose = purposeOf(name, settings);
      return { name, path, why: `must be ${plain}, because Kiln knows no packages of ${base.title} for ${purpose}` };
    });

/**
 * Refuses a new value that the base system does not support. A value that is already stored stays, and the status
 * reports it.
 */
export async function refuseSettingsOfBase(
  db: Database,
  { baseSystem }: Pick<Appliance, "baseSystem">,
  { from, to }: { from: ImageSettings["settings"]; to: ImageSettings["settings"] },
): Promise<void> {
  if (names.every((name) => from[name] === to[name])) return;
  const base = await findBaseSystem(db, baseSystem);
  const faults = base ? whyNotOnBase(to, base.facts).filter(({ name }) => from[name] !== to[name]) : [];
  if (faults.length > 0) throw wrongValues(faults.map(({ path, why }) => ({ path, why })));
}

/**
 * Reports settings that the base system or the image type does not support. `baseSystem` is undefined if no catalogue
 * has it.
 */
export function settingsOfBaseIssues({
  baseSystem,
  ...image
}: ImageSettings & { baseSystem: Base | undefined }): Issue[] {
  const impossible = baseSystem ? whyNotOnBase(image.settings, baseSystem) : [];
  const refused = new Set(impossible.map(({ name }) => name));
  const without = names.filter(
    (name) => !refused.has(name) && image.settings[name] !== rules[name].plain && !rules[name].isIn(image),
  );
  return [
    ...impossible.map(({ name, why, path }) => ({
      type: "error" as const,
      text: `${rules[name].subject} ${why}.`,
      setting: { path, value: rules[name].plain, words: `Use no ${purposeOf(name, image.settings)}` },
    })),
    ...without.map((name) => ({ type: "warning" as const, text: withoutText(name, image) })),
  ];
}

const withoutText = (name: SettingOfBase, { imageType, settings }: ImageSettings): string =>
  `An image of the type ${imageType} gets no ${purposeOf(name, settings)}, because ${rules[name].whyNotInType(settings)}.`;
