import {
  childrenOf,
  type Imported,
  type ImportedDefinition,
  type NextTo,
  type Omission,
} from "#lib/kiwi/import/imported";
import { profilesOf } from "#lib/kiwi/import/chosen";
import { foreignFiles } from "#lib/kiwi/import/foreign-files";
import { areOwn, readOwnFiles } from "#lib/kiwi/import/own-files";
import { softwareOf } from "#lib/kiwi/import/packages";
import { preferencesOf, type Author } from "#lib/kiwi/import/preferences";
import { repositoriesOf } from "#lib/kiwi/import/repositories";
import { usersOf, withAccess } from "#lib/kiwi/import/users";
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
