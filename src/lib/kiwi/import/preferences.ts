// Not the contract's index, because the command line imports this file and would get all of zod.
import { imageFormats, imageTypes } from "#lib/contract/image-formats";
import type { ImageType } from "#lib/contract/index";
import type { ImportedDefinition, Omission } from "#lib/kiwi/import/imported";
import { keytables } from "#lib/kiwi/keytables";
import type { XmlNode } from "#lib/wire/read-xml";

/** The content of `<preferences>`. The appliance has one type: KIWI's default, which is the primary one, or else the first. */
export interface Preferences {
  definition: Pick<ImportedDefinition, "version" | "type">;
  locale: NonNullable<ImportedDefinition["configuration"]["locale"]>;
  diskSizeMb?: number;
  lvm?: ImportedDefinition["configuration"]["lvm"];
  omitted: Omission[];
}

/** Who wrote a description. In one of Kiln, everything that is not in the API is the same for all images. */
export type Author = "kiln" | "other";

export function preferencesOf(sections: readonly XmlNode[], author: Author): Preferences {
  const all: Preferences = { definition: {}, locale: {}, omitted: [] };
  const read: XmlNode[] = [];
  for (const section of sections) {
    const profiles = section.attributes.get("profiles");
    const arch = section.attributes.get("arch");
    if (profiles !== undefined)
      all.omitted.push({ what: "preferences", why: `they belong only to the profile ${profiles}` });
    else if (arch !== undefined) all.omitted.push({ what: "preferences", why: `they are for ${arch} only` });
    else read.push(...section.children);
  }
  for (const one of read.toSorted((a, b) => Number(isPrimary(b)) - Number(isPrimary(a)))) readPreference(one, all);
  return author === "kiln" ? { ...all, omitted: [] } : all;
}

const isPrimary = ({ name, attributes }: XmlNode): boolean => name === "type" && attributes.get("primary") === "true";

function readPreference(node: XmlNode, to: Preferences): void {
  const { name, text } = node;
  const omit = (why: string, what = name) => to.omitted.push({ what: `preferences/${what}`, why });
  if (name === "version") {
    const version = threeNumbers(text);
    if (version !== undefined) to.definition.version = version;
    else omit(`${text} is not a version of up to three numbers`);
  } else if (name === "locale") {
    const [language = ""] = text.split(",");
    if (/^[a-z]{2,3}_[A-Z]{2}$/.test(language)) to.locale.language = `${language}.UTF-8`;
    else omit(`${text} is not a locale such as en_US`);
  } else if (name === "keytable") {
    const layout = layoutOf(text);
    if (layout === undefined) omit(`there is no keyboard layout for ${text}`);
    else to.locale.keyboard_layout = layout;
  } else if (name === "timezone") to.locale.timezone = { location: text };
  else if (name === "type") readType(node, to, omit);
  else if (name === "packagemanager") {
    if (!["zypper", "apt", "apt-get"].includes(text)) omit(`the base system does not use ${text}`);
  } else omit("appliances have nothing like it");
}

/** `12.0` is 12.0.0. Undefined: it is not a version. */
const threeNumbers = (text: string): string | undefined =>
  /^(0|[1-9]\d{0,3})(\.(0|[1-9]\d{0,3})){0,2}$/.test(text)
    ? [...text.split("."), "0", "0"].slice(0, 3).join(".")
    : undefined;

export const layoutOf = (keytable: string): string | undefined =>
  Object.entries(keytables).find(([layout, keymap]) => keymap === keytable || layout === keytable)?.[0];

type Omit = (why: string, what?: string) => void;

function readType(node: XmlNode, to: Preferences, omit: Omit): void {
  const { attributes, children } = node;
  const image = attributes.get("image") ?? node.text;
  const type = imageTypeOf(image, attributes);
  if (type === undefined) return omit(`${image} is not a format of appliances`, `type image="${image}"`);
  if (to.definition.type !== undefined)
    return omit(
      `an appliance has one type of its own: build this one with \`kiln build --type ${type}\``,
      `type image="${image}"`,
    );
  to.definition.type = type;
  for (const [name] of attributes) if (!readAttributes.has(name)) omit("the service decides it", `type/${name}`);
  for (const child of children) {
    if (child.name === "size") readSize(child, to, omit);
    else if (child.name === "systemdisk" && hasSubvolumes(node, child))
      omit("an appliance has LVM volumes, and no subvolumes of btrfs", "type/systemdisk");
    else if (child.name === "systemdisk") readVolumes(child, to, omit);
    else omit("the service decides it", `type/${child.name}`);
  }
}

const readAttributes = new Set(["image", "format", "installiso", "primary"]);

function imageTypeOf(image: string, attributes: XmlNode["attributes"]): ImageType | undefined {
  const format = attributes.get("format") ?? "";
  if (image === "vmx" || image === "oem") {
    if (attributes.get("installiso") === "true") return "oemiso";
    if (image === "vmx" || format === "ova") return "vmx";
    return imageTypes.find((type) => imageFormats[type].container?.suffix === format) ?? "oem";
  }
  return ofKiwi[image];
}

const ofKiwi: Readonly<Record<string, ImageType>> = { iso: "iso", kis: "net", pxe: "net" };

function readSize({ text, attributes }: XmlNode, to: Preferences, omit: Omit): void {
  const megabytes = Number(text) * (attributes.get("unit") === "G" ? 1024 : 1);
  if (attributes.get("additive") === "true")
    return omit("an appliance has the size of its disk, not the free space on it", "type/size");
  if (Number.isSafeInteger(megabytes) && megabytes > 0) to.diskSizeMb = megabytes;
  else omit(`${text} is not a size`, "type/size");
}

const hasSubvolumes = (type: XmlNode, disk: XmlNode): boolean =>
  type.attributes.get("filesystem") === "btrfs" && disk.attributes.get("preferlvm") !== "true";

/** `@root` is the volume of the whole system. */
function readVolumes({ attributes, children }: XmlNode, to: Preferences, omit: Omit): void {
  const volumes = children
    .filter(({ name }) => name === "volume")
    .flatMap((one) => {
      const name = one.attributes.get("name") ?? "";
      const mountpoint = one.attributes.get("mountpoint") ?? (name.startsWith("@") ? "" : name);
      const size = megabytesOf(one.attributes.get("size") ?? "");
      for (const attribute of one.attributes.keys())
        if (!volumeAttributes.has(attribute))
          omit("appliances have nothing like it", `type/systemdisk/volume ${name}/${attribute}`);
      if (size !== undefined) return [{ size, path: `/${mountpoint}` }];
      // The volume of the whole system gets the rest, so it needs no size.
      if (name !== "@root") omit("an appliance gives each volume a size", `type/systemdisk/volume ${name}`);
      return [];
    });
  to.lvm = { enabled: true, volume_group: attributes.get("name") ?? "systemVG", volumes };
}

const volumeAttributes = new Set(["name", "mountpoint", "size", "freespace"]);

function megabytesOf(size: string): number | undefined {
  const [, amount, unit] = /^(\d+)([MG])?$/.exec(size) ?? [];
  return amount === undefined ? undefined : Number(amount) * (unit === "G" ? 1024 : 1);
}
