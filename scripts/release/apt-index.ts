/** The documents of an apt repository, in the format that https://wiki.debian.org/DebianRepository/Format describes. */

/** A package file of the repository. */
export interface PackageFile {
  /** Its fields, as `dpkg-deb --field` prints them. */
  control: string;
  /** Its path from the root of the repository. */
  path: string;
  size: number;
  sha256: string;
}

/** A document that the Release file lists, with its path from there. */
export interface IndexFile {
  path: string;
  size: number;
  sha256: string;
}

/** The architecture of a package: `amd64`. */
export const architectureOf = ({ control }: PackageFile): string => /^Architecture: (\S+)$/m.exec(control)?.[1] ?? "";

/** The `Packages` document, in the order of the paths. */
export const packagesIndex = (packages: readonly PackageFile[]): string =>
  packages
    .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    .map((one) => `${one.control.trimEnd()}\nFilename: ${one.path}\nSize: ${one.size}\nSHA256: ${one.sha256}\n`)
    .join("\n");

/** The `Release` document, which is then signed. It has no end: apt would refuse a repository that no one renews. */
export function releaseFile(given: {
  suite: string;
  component: string;
  architectures: readonly string[];
  date: Date;
  files: readonly IndexFile[];
}): string {
  const lines = [
    "Origin: Kiln",
    "Label: Kiln",
    `Suite: ${given.suite}`,
    `Codename: ${given.suite}`,
    `Date: ${given.date.toUTCString()}`,
    `Architectures: ${given.architectures.join(" ")}`,
    `Components: ${given.component}`,
    "Description: Builder agent of Kiln",
    "SHA256:",
    ...given.files.map(({ path, size, sha256 }) => ` ${sha256} ${size} ${path}`),
  ];
  return `${lines.join("\n")}\n`;
}

/** What a build host writes to /etc/apt/sources.list.d/kiln.sources. */
export const sourcesFile = (url: string, suite: string, component: string): string =>
  [
    "Types: deb",
    `URIs: ${url}`,
    `Suites: ${suite}`,
    `Components: ${component}`,
    "Signed-By: /usr/share/keyrings/kiln.gpg",
    "",
  ].join("\n");
