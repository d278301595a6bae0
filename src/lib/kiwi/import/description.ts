import type { Imported, ImportedDefinition, NextTo, Omission } from "#lib/kiwi/import/imported";
import { profilesOf } from "#lib/kiwi/import/chosen";
import { foreignFiles } from "#lib/kiwi/import/foreign-files";
import { areOwn, readOwnFiles, withAccess } from "#lib/kiwi/import/own-files";
import { softwareOf } from "#lib/kiwi/import/packages";
import { preferencesOf, type Author } from "#lib/kiwi/import/preferences";
import { repositoriesOf } from "#lib/kiwi/import/repositories";
import type { XmlNode } from "#lib/wire/read-xml";

/** Reads a KIWI description with the files next to it. */
export function importDescription(image: XmlNode, nextTo: NextTo): Imported {
  const own = areOwn(nextTo);
  const beside = own ? readOwnFiles(nextTo) : foreignFiles(nextTo);
  const described = describedBy(image, own || isOurs(image) ? "kiln" : "other");
  const { definition: also, files } = beside;
  const { configuration: more, packages: _, patterns: _p, bans: _b, ...rest } = also;
  const { configuration } = described.definition;
  const locale = { ...configuration.locale, ...more.locale };
  // A partition for swap is in config.xml, and a file for it is not.
  const settings = { ...more.settings, ...configuration.settings };
  return {
    definition: {
      ...described.definition,
      ...rest,
      configuration: {
        ...configuration,
        ...more,
        ...(own && configuration.users && { users: withAccess(configuration.users, nextTo) }),
        ...(!isEmpty(locale) && { locale }),
        ...(!isEmpty(settings) && { settings }),
      },
    },
    files,
    omitted: [...described.omitted, ...beside.omitted],
  };
}

type Configuration = ImportedDefinition["configuration"];

const isEmpty = (section: object): boolean => Object.keys(section).length === 0;

/** Whether Kiln wrote the description. It may have no files next to it. */
const isOurs = (image: XmlNode): boolean =>
  childrenOf(image, "description").some(({ children }) =>
    children.some(({ name, text }) => name === "contact" && text === "builder@localhost"),
  );

/** Reads the XML alone, without the files next to it. */
export function describedBy(image: XmlNode, author: Author): Pick<Imported, "definition" | "omitted"> {
  const preferences = preferencesOf(childrenOf(image, "preferences"), author);
  const software = softwareOf(childrenOf(image, "packages"));
  const ours = author === "kiln";
  // The one repository in Kiln's own descriptions contains the frozen packages, and has no URL.
  const repositories = repositoriesOf(ours ? [] : childrenOf(image, "repository"));
  const users = usersOf(image);
  const about = ours ? {} : aboutOf(image);
  const { omitted: _, ...chosen } = software;
  const name = image.attributes.get("displayname") ?? image.attributes.get("name");
  const { type, settings, lvm, locale } = preferences;
  return {
    definition: {
      ...(name !== undefined && { name }),
      ...preferences.definition,
      ...(type !== undefined && { type }),
      ...(repositories.found.length > 0 && { repositories: repositories.found }),
      ...chosen,
      configuration: {
        ...about,
        ...(!isEmpty(locale) && { locale }),
        ...(users.found.length > 0 && { users: users.found }),
        ...(!isEmpty(settings) && { settings }),
        ...(lvm ? { lvm } : ours && { lvm: { enabled: false } }),
      },
    },
    omitted: [
      ...preferences.omitted,
      ...repositories.omitted,
      ...users.omitted,
      ...software.omitted,
      ...(ours ? [] : lostAbout(image)),
      ...otherElements(image),
    ],
  };
}

export const childrenOf = (node: XmlNode, name: string): XmlNode[] =>
  node.children.filter((child) => child.name === name);

const known = new Set(["description", "preferences", "users", "repository", "packages", "profiles"]);

const otherElements = ({ children }: XmlNode): Omission[] => {
  const names = new Set(children.map(({ name }) => name).filter((name) => !known.has(name)));
  return [...names].map((what) => ({ what, why: "appliances have nothing like it" }));
};

/** The omissions about the description itself: its author and contact, and the profiles that were not chosen. */
function lostAbout(image: XmlNode): Omission[] {
  const others = childrenOf(image, "description")
    .flatMap(({ children }) => children)
    .filter(({ name }) => name !== "specification");
  const isLeft = image.children.some(({ attributes }) => attributes.has("profiles"));
  return [
    ...others.map(({ name, text }) => ({ what: `description/${name} ${text}`, why: "the account is the author" })),
    ...(isLeft ? [{ what: "profiles", why: `choose with --profile: ${profilesOf(image).join(", ")}` }] : []),
  ];
}

function aboutOf(image: XmlNode): Pick<Configuration, "description"> {
  const [specification] = childrenOf(image, "description").flatMap((one) => childrenOf(one, "specification"));
  return specification && specification.text !== "" ? { description: specification.text } : {};
}

const userAttributes = new Set(["name", "id", "groups", "shell", "home", "password", "pwdformat"]);

function usersOf(image: XmlNode): { found: NonNullable<Configuration["users"]>; omitted: Omission[] } {
  const omitted: Omission[] = [];
  const sections = childrenOf(image, "users");
  const all: XmlNode[] = [];
  for (const { attributes, children } of sections) {
    const profiles = attributes.get("profiles");
    const arch = attributes.get("arch");
    const what = `users (${children.map((one) => one.attributes.get("name") ?? "?").join(", ")})`;
    if (profiles !== undefined) omitted.push({ what, why: `they belong only to the profile ${profiles}` });
    else if (arch !== undefined) omitted.push({ what, why: `they are for ${arch} only` });
    else all.push(...children);
  }
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
    for (const attribute of attributes.keys())
      if (!userAttributes.has(attribute))
        omitted.push({ what: `${what}/${attribute}`, why: "the users of an appliance have nothing like it" });
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
