import type { FrozenRepository, ImageType } from "#contract/index";
import { marked, writeXml, type XmlMarked } from "#xml/write";
import { imageTypeElement } from "#kiwi/image-type";

/** All that a KIWI description says; names are checked before, the writer escapes. */
export interface DescriptionFacts {
  /** KIWI's image name: no spaces, or the default entry of an install medium does not boot. */
  name: string;
  version: string;
  imageType: ImageType;
  diskSizeMb: number;
  locale: { language: string; keyboardLayout: string; timezone: string };
  users: { name: string; passwordHash: string; homedir: string; shell: string; group: string; uid: number }[];
  repositories: FrozenRepository[];
  /** As zypper reads them: `name`, `name=version`, `alias:name`. */
  packages: string[];
  patterns: string[];
  /** What KIWI installs from outside before the image has a package manager; null: everything. */
  bootstrap: string[] | null;
}

/**
 * config.xml of KIWI NG, schema 7.5. Repositories are named `repo:ALIAS`; the agent writes the address in that it
 * reaches them under.
 */
export function kiwiDescription(facts: DescriptionFacts): string {
  const image = marked(
    { schemaversion: "7.5", name: facts.name, displayname: facts.name },
    {
      description: marked(
        { type: "system" },
        { author: "Kiln", contact: "builder@localhost", specification: `${facts.name} ${facts.version}` },
      ),
      preferences: preferences(facts),
      users: { user: facts.users.map(user) },
      repository: facts.repositories.map(repository),
      packages: packageSections(facts),
    },
  );
  return `<?xml version="1.0" encoding="utf-8"?>\n${writeXml("image", image)}`;
}

const preferences = ({ version, locale, imageType, diskSizeMb }: DescriptionFacts) => ({
  version,
  packagemanager: "zypper",
  locale: locale.language.replace(/\..*$/, ""),
  keytable: keytables[locale.keyboardLayout] ?? "us",
  timezone: locale.timezone,
  "rpm-check-signatures": true,
  type: imageTypeElement(imageType, { diskSizeMb }),
});

/** The API's names of keyboard layouts (wire.md §2.4) and the console keymaps they mean. */
const keytables: Record<string, string> = {
  "english-us": "us",
  "english-uk": "uk",
  german: "de",
  french: "fr",
  spanish: "es",
  italian: "it",
};

const user = ({ name, passwordHash, homedir, shell, group, uid }: DescriptionFacts["users"][number]): XmlMarked =>
  marked(
    { name, password: passwordHash, pwdformat: "encrypted", home: homedir, shell, groups: group, id: String(uid) },
    {},
  );

const repository = ({ alias, priority }: FrozenRepository): XmlMarked =>
  marked(
    { type: "rpm-md", alias, priority: String(priority), repository_gpgcheck: "true" },
    { source: marked({ path: `repo:${alias}` }, {}) },
  );

/**
 * `namedCollection` needs a libsolv that knows patterns, which Debian's does not; the capability works everywhere.
 * Two sections where the image brings its own package manager, one where the host installs everything.
 */
function packageSections({ packages, patterns, bootstrap }: DescriptionFacts): XmlMarked[] {
  const names = [...packages, ...patterns.map((name) => `pattern() = ${name}`)];
  if (bootstrap === null) return [section("bootstrap", names)];
  return [section("bootstrap", bootstrap), section("image", names)];
}

const section = (type: "bootstrap" | "image", names: string[]) =>
  marked({ type }, { package: names.map((name) => marked({ name }, {})) });
