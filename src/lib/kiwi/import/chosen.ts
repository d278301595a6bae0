import { WireFault } from "#lib/wire/fault";
import type { XmlNode } from "#lib/wire/read-xml";

/** The choice of the parts of a description to import: profiles by name, and an architecture as KIWI names it. */
export interface Choice {
  profiles: readonly string[];
  /** Undefined if there was no choice. Then it is x86_64, which a description must not contradict. */
  arch: string | undefined;
}

const usualArch = "x86_64";

/**
 * Marks what belongs to the choice: its sections lose their `profiles`, and elements for the architecture their `arch`.
 * Readers skip a section that still has `profiles`, and an element that still has `arch`.
 */
export function chosenFrom(image: XmlNode, { profiles, arch: wantedArch }: Choice): XmlNode {
  if (profiles.length === 0) refuseWithoutProfile(image);
  if (wantedArch === undefined) refuseForOthers(image);
  const arch = wantedArch ?? usualArch;
  const wanted = closureOf(image, profiles);
  const isWanted = (list: string) => wordsIn(list).some((one) => wanted.has(one));
  const isForArch = (list: string) => wordsIn(list).some((one) => one === arch || (i86.test(one) && i86.test(arch)));
  const chosen = (node: XmlNode): XmlNode => ({
    ...node,
    attributes: without(without(node.attributes, "profiles", isWanted), "arch", isForArch),
    children: node.name === "packages" || node.name === "preferences" ? node.children.map(chosen) : node.children,
  });
  return { ...image, children: image.children.map(chosen) };
}

/** Refuses a description whose types all belong to profiles, because KIWI builds none of it without a profile. */
function refuseWithoutProfile(image: XmlNode): void {
  const withTypes = image.children.filter(({ name, children }) => name === "preferences" && children.some(isType));
  if (withTypes.length === 0 || withTypes.some(isFree) || importedProfiles(image).length > 0) return;
  const names = profilesOf(image).join(", ");
  throw new WireFault("invalid_xml", `Each of its image types belongs to a profile. Choose with --profile: ${names}.`);
}

/** A description names no architecture, but some of its parts are for one. KIWI takes the one of its host. */
function refuseForOthers(image: XmlNode): void {
  const named = new Set(archesIn(image));
  if (named.size === 0 || named.has(usualArch)) return;
  const names = [...named].toSorted().join(", ");
  throw new WireFault("invalid_xml", `Parts of it are for ${names}, and none for ${usualArch}. Choose with --arch.`);
}

const archesIn = ({ attributes, children }: XmlNode): string[] => [
  ...wordsIn(attributes.get("arch") ?? "").filter(Boolean),
  ...children.flatMap(archesIn),
];

const isFree = ({ attributes }: XmlNode): boolean => !attributes.has("profiles");

const isType = ({ name }: XmlNode): boolean => name === "type";

const importedProfiles = (image: XmlNode): string[] =>
  profileNodes(image)
    .filter(({ attributes }) => attributes.get("import") === "true")
    .map(nameOf);

/** The 32-bit architectures, for which KIWI writes ix86. */
const i86 = /^i[3-6x]86$/;

/** The names of the profiles that a description has. */
export const profilesOf = (image: XmlNode): string[] => profileNodes(image).map(nameOf);

const nameOf = ({ attributes }: XmlNode): string => attributes.get("name") ?? "";

const profileNodes = (image: XmlNode): XmlNode[] =>
  image.children.filter(({ name }) => name === "profiles").flatMap(({ children }) => children);

/** The given profiles and those that they require. If none is given, KIWI takes those with `import="true"`. */
function closureOf(image: XmlNode, given: readonly string[]): ReadonlySet<string> {
  const all = new Map(profileNodes(image).map((node) => [nameOf(node), node]));
  const unknown = given.find((name) => !all.has(name));
  if (unknown !== undefined)
    throw new WireFault("invalid_xml", `It has no profile ${unknown}${listOf([...all.keys()])}.`);
  const closure = new Set(given.length > 0 ? given : importedProfiles(image));
  for (const name of closure)
    for (const { name: kind, attributes } of all.get(name)?.children ?? [])
      if (kind === "requires") closure.add(attributes.get("profile") ?? "");
  return closure;
}

const listOf = (names: readonly string[]): string => (names.length === 0 ? "" : `, but ${names.join(", ")}`);

const wordsIn = (list: string): string[] => list.split(",").map((word) => word.trim());

function without(
  attributes: XmlNode["attributes"],
  name: string,
  isChosen: (value: string) => boolean,
): XmlNode["attributes"] {
  const value = attributes.get(name);
  return value !== undefined && isChosen(value) ? new Map([...attributes].filter(([key]) => key !== name)) : attributes;
}
