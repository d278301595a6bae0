import type { Imported, ImportedDefinition, NextTo, Omission } from "#kiwi/import/imported";
import { foreignFiles } from "#kiwi/import/foreign-files";
import { areOwn, readOwnFiles } from "#kiwi/import/own-files";
import { softwareOf } from "#kiwi/import/packages";
import { preferencesOf } from "#kiwi/import/preferences";
import { repositoriesOf } from "#kiwi/import/repositories";
import type { XmlNode } from "#wire/read-xml";

/** What a KIWI description says, with what lies next to it. */
export function importDescription(image: XmlNode, nextTo: NextTo): Imported {
  const own = areOwn(nextTo);
  const beside = own ? readOwnFiles(nextTo) : foreignFiles(nextTo);
  const described = describedBy(image, own || isOurs(image));
  const { definition: also, files } = beside;
  const { configuration: more, packages: _, patterns: _p, bans: _b, ...rest } = also;
  const { configuration } = described.definition;
  return {
    definition: {
      ...described.definition,
      ...rest,
      configuration: {
        ...configuration,
        ...more,
        ...locales(configuration.locale, more.locale),
        ...settingsOf(configuration, more),
      },
    },
    files,
    omitted: [...described.omitted, ...beside.omitted],
  };
}

type Configuration = ImportedDefinition["configuration"];

const locales = (one: Configuration["locale"], other: Configuration["locale"]): Pick<Configuration, "locale"> => {
  const locale = { ...one, ...other };
  return Object.keys(locale).length === 0 ? {} : { locale };
};

const settingsOf = (one: Configuration, other: Configuration): Pick<Configuration, "settings"> => {
  const settings = { ...one.settings, ...other.settings };
  return Object.keys(settings).length === 0 ? {} : { settings };
};

/** Its description was written by Kiln, also if nothing lies next to it. */
const isOurs = (image: XmlNode): boolean =>
  childrenOf(image, "description").some(({ children }) =>
    children.some(({ name, text }) => name === "contact" && text === "builder@localhost"),
  );

/** What the XML alone says. `ours`: Kiln wrote it. */
export function describedBy(image: XmlNode, ours: boolean): Pick<Imported, "definition" | "omitted"> {
  const preferences = preferencesOf(childrenOf(image, "preferences"), ours);
  const software = softwareOf(childrenOf(image, "packages"));
  // Its own is that of the frozen packages, and names no place.
  const repositories = repositoriesOf(ours ? [] : childrenOf(image, "repository"));
  const users = usersOf(image);
  const about = ours ? {} : aboutOf(image);
  const { omitted: _, ...chosen } = software;
  const name = image.attributes.get("displayname") ?? image.attributes.get("name");
  const { diskSizeMb, lvm, locale } = preferences;
  return {
    definition: {
      ...(name !== undefined && { name }),
      ...preferences.definition,
      ...(repositories.found.length > 0 && { repositories: repositories.found }),
      ...chosen,
      configuration: {
        ...about,
        ...(Object.keys(locale).length > 0 && { locale }),
        ...(users.found.length > 0 && { users: users.found }),
        ...(diskSizeMb !== undefined && { settings: { disk_size: Math.ceil(diskSizeMb / 1024) } }),
        ...(lvm ? { lvm } : ours && { lvm: { enabled: false } }),
      },
    },
    omitted: [
      ...preferences.omitted,
      ...repositories.omitted,
      ...users.omitted,
      ...software.omitted,
      ...otherElements(image),
    ],
  };
}

export const childrenOf = (node: XmlNode, name: string): XmlNode[] =>
  node.children.filter((child) => child.name === name);

const known = new Set(["description", "preferences", "users", "repository", "packages"]);

const otherElements = ({ children }: XmlNode): Omission[] => {
  const names = new Set(children.map(({ name }) => name).filter((name) => !known.has(name)));
  return [...names].map((what) => ({ what, why: "an appliance has no word for it" }));
};

/** Who wrote it is not part of an appliance. */
function aboutOf(image: XmlNode): Pick<Configuration, "description"> {
  const [specification] = childrenOf(image, "description").flatMap((one) => childrenOf(one, "specification"));
  return specification && specification.text !== "" ? { description: specification.text } : {};
}

function usersOf(image: XmlNode): { found: NonNullable<Configuration["users"]>; omitted: Omission[] } {
  const omitted: Omission[] = [];
  const all = childrenOf(image, "users").flatMap((section) => childrenOf(section, "user"));
  const taken = new Set(all.map(({ attributes }) => Number(attributes.get("id") ?? NaN)));
  let next = 1000;
  const free = () => {
    while (taken.has(next)) next++;
    return next++;
  };
  const found = all.map(({ attributes }) => {
    const name = attributes.get("name") ?? "";
    const [group = name === "root" ? "root" : "users", ...others] = (attributes.get("groups") ?? "")
      .split(",")
      .filter(Boolean);
    const what = `users/user ${name}`;
    omitted.push({ what: `${what}/password`, why: "a definition has no hashes: set the variable that the file names" });
    if (others.length > 0)
      omitted.push({ what: `${what}/groups`, why: `only the first counts, without ${others.join(", ")}` });
    return {
      uid: Number(attributes.get("id") ?? (name === "root" ? 0 : free())),
      name,
      group,
      shell: attributes.get("shell") ?? "/bin/bash",
      homedir: attributes.get("home") ?? (name === "root" ? "/root" : `/home/${name}`),
    };
  });
  return { found, omitted };
}
