/** The documents of an apt repository, in the format that https://wiki.debian.org/DebianRepository/Format describes. */

/** A package file of the repository. */
export interface PackageFile {
  /** The package's fields, as `dpkg-deb --field` prints them. */
  control: string;
  /** Its path from the root of the repository. */
  path: string;
  size: number;
  sha256: string;
}

/** A document that the Release file lists, with its path relative to that file. */
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

/** The `Release` document, which is then signed. It does not expire, because apt would refuse an expired repository. */
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

/** The content of /etc/apt/sources.list.d/kiln.sources on a build host. */
export const sourcesFile = (url: string, suite: string, component: string): string =>
  [
    "Types: deb",
    `URIs: ${url}`,
    `Suites: ${suite}`,
    `Components: ${component}`,
    "Signed-By: /usr/share/keyrings/kiln.gpg",
    "",
  ].join("\n");
