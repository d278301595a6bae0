import type { XmlNode } from "#lib/wire/read-xml";
import type { ImportedDefinition, Omission } from "#lib/kiwi/import/imported";

type Chosen = Pick<ImportedDefinition, "packages" | "patterns" | "bans">;

/** The packages that a description selects. If a name appears twice, the one with a version counts. */
export function softwareOf(sections: readonly XmlNode[]): Chosen & { omitted: Omission[] } {
  const found: Chosen = { packages: [], patterns: [], bans: [] };
  const omitted: Omission[] = [];
  for (const section of sections) {
    const why = reasonToOmit(section);
    if (why === undefined) {
      for (const one of section.children) readChoice(one, found, omitted);
      if (section.attributes.get("patternType") === "plusRecommended")
        omitted.push({
          what: `${labelOf(section)}/patternType`,
          why: "an appliance gets no recommended packages: add them",
        });
    } else omitted.push({ what: `${labelOf(section)} (${namesIn(section)})`, why });
  }
  return { packages: unique(found.packages), patterns: unique(found.patterns), bans: unique(found.bans), omitted };
}

const labelOf = ({ attributes }: XmlNode): string => `packages type="${attributes.get("type") ?? ""}"`;

const namesIn = ({ children }: XmlNode): string =>
  children.map(({ attributes }) => attributes.get("name") ?? "?").join(", ");

function reasonToOmit({ attributes }: XmlNode): string | undefined {
  const type = attributes.get("type") ?? "";
  if (attributes.has("arch")) return `it is for ${attributes.get("arch")} only`;
  if (attributes.has("profiles")) return `it belongs only to the profile ${attributes.get("profiles")}`;
  if (type === "delete" || type === "uninstall")
    return "an appliance bans packages, but removes none: remove them in the build script";
  return type === "image" || type === "bootstrap"
    ? undefined
    : "an appliance has the same packages in each format: add those that it needs";
}

function readChoice({ name, attributes }: XmlNode, to: Chosen, omitted: Omission[]): void {
  const given = attributes.get("name") ?? "";
  const arch = attributes.get("arch");
  const omit = (why: string, what = `${name} ${given}`) => void omitted.push({ what, why });
  if (arch !== undefined) return omit(`it is for ${arch} only`);
  if (name === "archive") return omit("unpack it into the folder root/ next to the description");
  if (name === "package") to.packages.push(packageOf(given));
  else if (name === "namedCollection") to.patterns.push({ name: given });
  else if (name === "ignore") to.bans.push({ name: given });
  else return omit("appliances have nothing like it", `packages/${name} ${given}`.trim());
  for (const attribute of attributes.keys())
    if (attribute !== "name") omit("the service decides it", `${name} ${given}/${attribute}`);
}

/** Reads `name=version`. Drops the architecture, because an appliance has only one. */
function packageOf(given: string): { name: string; version?: string } {
  const [, name = given, , version] = /^(.+?)(\.(?:x86_64|aarch64|i[3-6]86|noarch))?=(.+)$/.exec(given) ?? [];
  return version === undefined ? { name } : { name, version };
}

const unique = <T extends { name: string; version?: string }>(all: readonly T[]): T[] => {
  const byName = new Map<string, T>();
  for (const one of all)
    if (one.name !== "" && (one.version !== undefined || !byName.has(one.name))) byName.set(one.name, one);
  return [...byName.values()];
};
