import { type XmlFields, type XmlValue, marked, writeXml } from "#lib/wire/xml";
import type { RpmFile } from "./rpm-files.ts";
import type { RpmHeader } from "./rpm-header.ts";
import { type Relation, relationKinds } from "./rpm-relations.ts";

/** A package of a repository that Kiln writes: its header and facts about its file. */
export interface RepositoryPackage {
  header: RpmHeader;
  /** Relative to the repository. */
  location: string;
  sha256: string;
  fileBytes: number;
  /** When the file was uploaded, in seconds since 1970. */
  fileTime: number;
}

/**
 * The element of primary.xml, field for field as createrepo_c writes it:
 * https://github.com/rpm-software-management/createrepo_c
 */
export function primaryElement(one: RepositoryPackage): string {
  const { header } = one;
  return writeXml(
    "package",
    marked(
      { type: "rpm" },
      {
        name: header.name,
        arch: header.arch,
        version: version(header),
        checksum: marked({ type: "sha256", pkgid: "YES" }, one.sha256),
        summary: header.summary,
        description: header.description,
        packager: header.packager,
        url: header.url,
        time: marked({ file: `${one.fileTime}`, build: `${header.builtAt}` }, ""),
        size: marked(sizes(one), ""),
        location: marked({ href: one.location }, ""),
        format: format(header),
      },
    ),
  );
}

export const filelistsElement = ({ header, sha256 }: RepositoryPackage): string =>
  writeXml(
    "package",
    marked(identity(header, sha256), { version: version(header), file: header.files.map(fileElement) }),
  );

/** other.xml is for change logs, which Kiln omits. But zypper and dnf require the package in it. */
export const otherElement = ({ header, sha256 }: RepositoryPackage): string =>
  writeXml("package", marked(identity(header, sha256), { version: version(header) }));

const identity = ({ name, arch }: RpmHeader, pkgid: string) => ({ pkgid, name, arch });

const version = (header: RpmHeader) =>
  marked({ epoch: `${header.epoch}`, ver: header.version, rel: header.release }, "");

const sizes = ({ header, fileBytes }: RepositoryPackage) => ({
  package: `${fileBytes}`,
  installed: `${header.installedBytes}`,
  archive: `${header.archiveBytes}`,
});

function format(header: RpmHeader): XmlFields {
  const { relations } = header;
  const fields: XmlFields = {
    "rpm:license": header.license,
    "rpm:vendor": header.vendor,
    "rpm:group": header.group,
    "rpm:buildhost": header.buildHost,
    "rpm:sourcerpm": header.sourceRpm,
    "rpm:header-range": marked({ start: `${header.headerStart}`, end: `${header.headerEnd}` }, ""),
  };
  for (const kind of relationKinds) {
    const entries = kind === "requires" ? outsideNeeds(header) : distinct(relations[kind]);
    if (entries.length > 0) fields[`rpm:${kind}`] = { "rpm:entry": entries.map(entry) };
  }
  fields.file = header.files.filter(({ path }) => isMainFile(path)).map(fileElement);
  return fields;
}

/** Files that other packages may require by path without fetching filelists.xml. */
const isMainFile = (path: string) => path.startsWith("/etc/") || path.includes("bin/") || path === "/usr/lib/sendmail";

const fileElement = ({ path, type }: RpmFile): XmlValue => (type === "file" ? path : marked({ type }, path));

function entry({ name, comparison, evr, isPre }: Relation): XmlValue {
  return marked(
    { name, ...(comparison && { flags: comparison, ...splitEvr(evr ?? "") }), ...(isPre && { pre: "1" }) },
    "",
  );
}

/** Splits `1:2.0-3`. The default epoch is 0. Without a release, none is compared. */
function splitEvr(evr: string): { epoch: string; ver: string; rel?: string } {
  const [, epoch = "0", ver = "", rel] = /^(?:(\d+):)?(.*?)(?:-([^-]*))?$/s.exec(evr) ?? [];
  return { epoch, ver, ...(rel !== undefined && { rel }) };
}

/**
 * Requirements that other packages must meet: without rpm's own features and without what the package itself provides.
 */
function outsideNeeds({ relations, files }: RpmHeader): Relation[] {
  const own = new Set(relations.provides.map(relationKey));
  const ownMainFiles = new Set(files.map(({ path }) => path).filter(isMainFile));
  const needs = relations.requires.filter(
    (one) => !one.name.startsWith("rpmlib(") && !ownMainFiles.has(one.name) && !own.has(relationKey(one)),
  );
  return newestLibc(distinct(needs));
}

const relationKey = ({ name, comparison, evr }: Relation) => JSON.stringify([name, comparison, evr]);

const distinct = (relations: readonly Relation[]): Relation[] => [
  ...new Map(relations.map((one) => [`${relationKey(one)}${one.isPre ?? ""}`, one])).values(),
];

/**
 * Keeps only the highest of `libc.so.6(GLIBC_2.2.5)`, `libc.so.6(GLIBC_2.34)` …: a libc provides all earlier versions
 * too.
 */
function newestLibc(needs: readonly Relation[]): Relation[] {
  const newest = needs.filter(isLibc).toSorted((a, b) => byGlibcVersion(b.name, a.name))[0];
  return newest ? [...needs.filter((one) => !isLibc(one)), newest] : [...needs];
}

const isLibc = ({ name }: Relation) => name.startsWith("libc.so.6");

function byGlibcVersion(a: string, b: string): number {
  const [left, right] = [glibcVersion(a), glibcVersion(b)];
  for (let index = 0; index < Math.max(left.length, right.length); index++) {
    const difference = (left[index] ?? -1) - (right[index] ?? -1);
    if (difference !== 0) return difference;
  }
  return 0;
}

const glibcVersion = (name: string): number[] => /GLIBC_([\d.]+)/.exec(name)?.[1]?.split(".").map(Number) ?? [];
