import { type Checksum, parseChecksum } from "./checksum.ts";
import { RepodataFault } from "./fault.ts";
import { insideRepository } from "./location.ts";

export const maxContentBytes = 2 ** 20; // the largest known one, of an installation medium, has 60 KB

/** The file `content` of a `yast2` repository, the layout before rpm-md. */
export interface Content {
  /** The name of the repository, from LABEL. */
  label?: string;
  distributions: { cpeId?: string; name: string }[];
  /** The folder of the descriptions, e.g. `suse/setup/descr`. */
  descriptionDirectory: string;
  /** The folder of the packages, with a subfolder per architecture, e.g. `suse`. */
  dataDirectory: string;
  /** Checksums of the files below the description directory, by name. */
  descriptions: Map<string, Checksum>;
  /** Checksums of the public keys in the root, by name. */
  keys: Map<string, Checksum>;
}

/** A file of a yast2 repository and its checksum. */
export interface DescribedFile {
  path: string;
  checksum: Checksum;
}

/** Reads `content`: lines of `KEY value`, of any version of YaST. Skips unneeded keys. */
export function readContent(bytes: Uint8Array): Content {
  if (bytes.byteLength > maxContentBytes) {
    throw new RepodataFault("too_large", `content is larger than ${maxContentBytes} bytes`);
  }
  const content: Content = {
    distributions: [],
    descriptionDirectory: "",
    dataDirectory: "",
    descriptions: new Map(),
    keys: new Map(),
  };
  for (const line of new TextDecoder().decode(bytes).split(/\r?\n/)) {
    const [, key, value] = /^([A-Z][A-Z0-9.]*)\s+(\S.*?)\s*$/.exec(line) ?? [];
    if (key !== undefined && value !== undefined) take(content, key, value);
  }
  if (!content.descriptionDirectory || !content.dataDirectory) {
    throw new RepodataFault("malformed_metadata", "content has no DESCRDIR or no DATADIR");
  }
  return content;
}

/** The list of packages. */
export function packagesFile(content: Content): DescribedFile {
  const file = described(content, "packages");
  if (!file) throw new RepodataFault("malformed_metadata", "content lists no packages file");
  return file;
}

/** Summaries and descriptions are in separate files, one per language. */
export const englishFile = (content: Content): DescribedFile | undefined => described(content, "packages.en");

/** All patterns in one file, as in the newest of these repositories. If it exists, the list is not read. */
export const mergedPatternsFile = (content: Content): DescribedFile | undefined => described(content, "patterns.pat");

/** The list that names a file for each pattern. */
export function patternList({ descriptionDirectory, descriptions }: Content): DescribedFile | undefined {
  const checksum = descriptions.get("patterns");
  return checksum && { path: `${descriptionDirectory}/patterns`, checksum };
}

export const maxPatternListBytes = 64 * 1024; // a distribution has a hundred patterns, in 4 KB
const maxPatternFiles = 500;

/** The files in the list, one per line. META must list their checksums. */
export function patternFiles(content: Content, list: Uint8Array): DescribedFile[] {
  const names = new TextDecoder().decode(list).split("\n");
  const files = names.map((name) => name.trim()).filter((name) => name.endsWith(".pat") || name.includes(".pat."));
  if (files.length > maxPatternFiles) {
    throw new RepodataFault("too_large", `patterns lists more than ${maxPatternFiles} files`);
  }
  return files.map((name) => {
    const file = described(content, name);
    if (!file) throw new RepodataFault("malformed_metadata", `content has no checksum for ${name.slice(0, 120)}`);
    return file;
  });
}

/** Picks the smallest compression of a file. META lists the existing ones. */
function described({ descriptionDirectory, descriptions }: Content, name: string): DescribedFile | undefined {
  for (const suffix of [".xz", ".bz2", ".gz", ""]) {
    const checksum = descriptions.get(name + suffix);
    if (checksum) return { path: `${descriptionDirectory}/${name}${suffix}`, checksum };
  }
  return undefined;
}

function take(content: Content, key: string, value: string): void {
  switch (key) {
    case "LABEL":
      content.label = value;
      break;
    case "DISTRO":
      content.distributions.push(distribution(value));
      break;
    case "DESCRDIR":
      content.descriptionDirectory = insideRepository(value);
      break;
    case "DATADIR":
      content.dataDirectory = insideRepository(value);
      break;
    case "META":
      takeChecksum(content.descriptions, value);
      break;
    case "KEY":
      takeChecksum(content.keys, value);
      break;
    default:
  }
}

/** Splits `cpe:/o:opensuse:opensuse:12.1,openSUSE 12.1`. Escaped commas in the name stay. */
function distribution(value: string): { cpeId?: string; name: string } {
  const [, cpeId, name] = /^(cpe:[^,]+),(.*)$/.exec(value) ?? [];
  return cpeId === undefined ? { name: value } : { cpeId, name: name ?? "" };
}

function takeChecksum(files: Map<string, Checksum>, value: string): void {
  const [, type, hex, name] = /^(\S+)\s+(\S+)\s+(\S.*)$/.exec(value) ?? [];
  if (type === undefined || hex === undefined || name === undefined) {
    throw new RepodataFault(
      "malformed_metadata",
      `content: not "TYPE checksum name": ${JSON.stringify(value.slice(0, 120))}`,
    );
  }
  files.set(insideRepository(name), parseChecksum(type, hex));
}
