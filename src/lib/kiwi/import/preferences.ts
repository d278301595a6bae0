import { readImageType, type TypeRead } from "#lib/kiwi/image-type";
import type { ImportedDefinition } from "#lib/kiwi/import/imported";
import { keytables } from "#lib/kiwi/keytables";
import type { XmlNode } from "#lib/wire/read-xml";

/**
 * The content of `<preferences>`. The appliance has one type: KIWI's default, which is the primary one, or else the
 * first.
 */
export interface Preferences extends TypeRead {
  definition: Pick<ImportedDefinition, "version">;
  locale: NonNullable<ImportedDefinition["configuration"]["locale"]>;
}

/** The author of a description. In Kiln's own, everything that is not in the API is the same for all images. */
export type Author = "kiln" | "other";

export function preferencesOf(sections: readonly XmlNode[], author: Author): Preferences {
  const all: Preferences = { definition: {}, settings: {}, locale: {}, omitted: [] };
  const read: XmlNode[] = [];
  for (const section of sections) {
    const profiles = section.attributes.get("profiles");
    const arch = section.attributes.get("arch");
    if (profiles !== undefined)
      all.omitted.push({ what: labelOf(section), why: `they belong only to the profile ${profiles}` });
    else if (arch !== undefined) all.omitted.push({ what: labelOf(section), why: `they are for ${arch} only` });
    else read.push(...section.children);
  }
  for (const one of read.toSorted((a, b) => Number(isPrimary(b)) - Number(isPrimary(a)))) readPreference(one, all);
  return author === "kiln" ? { ...all, omitted: [] } : all;
}

/** `preferences (version, type oem)`. */
const labelOf = ({ children }: XmlNode): string =>
  `preferences (${children.map(({ name, attributes }) => [name, attributes.get("image") ?? []].flat().join(" ")).join(", ")})`;

const isPrimary = ({ name, attributes }: XmlNode): boolean => name === "type" && attributes.get("primary") === "true";

function readPreference(node: XmlNode, to: Preferences): void {
  const { name, text } = node;
  const omit = (why: string, what = name) => void to.omitted.push({ what: `preferences/${what}`, why });
  if (name === "version") {
    const version = threeNumbers(text);
    if (version !== undefined) to.definition.version = version;
    else omit(`${text} is not a version of up to three numbers`);
  } else if (name === "locale") {
    const [language = "", ...others] = text.split(",");
    if (!/^[a-z]{2,3}_[A-Z]{2}$/.test(language)) return omit(`${text} is not a locale such as en_US`);
    to.locale.language = `${language}.UTF-8`;
    if (others.length > 0) omit(`only the first counts, without ${others.join(", ")}`);
  } else if (name === "keytable") {
    const layout = layoutOf(text);
    if (layout === undefined) omit(`there is no keyboard layout for ${text}`);
    else to.locale.keyboard_layout = layout;
  } else if (name === "timezone") to.locale.timezone = { location: text };
  else if (name === "type") readImageType(node, to);
  else if (name === "packagemanager") {
    if (!["zypper", "apt", "apt-get"].includes(text)) omit(`the base system does not use ${text}`);
  } else omit("appliances have nothing like it");
}

/** Completes a version: `12.0` becomes 12.0.0. Undefined if the text is not a version. */
const threeNumbers = (text: string): string | undefined =>
  /^(0|[1-9]\d{0,3})(\.(0|[1-9]\d{0,3})){0,2}$/.test(text)
    ? [...text.split("."), "0", "0"].slice(0, 3).join(".")
    : undefined;

export const layoutOf = (keytable: string): string | undefined =>
  Object.entries(keytables).find(([layout, keymap]) => keymap === keytable || layout === keytable)?.[0];
