/** Converts a Debian package to a package of an rpm distribution. */
import { createHash } from "node:crypto";
import type { RepositoryPackage } from "#lib/repodata/rpm-md-package";
import type { Relation } from "#lib/repodata/rpm-relations";
import type { Stanza } from "./debian.ts";
import { evrOf, namesIn, providesIn, relationsIn } from "./relations.ts";

/** An arbitrary fixed time, in seconds since 1970. */
export const madeAt = 1_700_000_000;

/** Sections whose packages contain no program with the package's name. */
const sectionsWithoutPrograms = /(^|\/)(lib.*|doc|fonts|python|perl|java|javascript|localization|debug|kernel)$/;

/**
 * Uses the facts of Debian's index unchanged. The index has no file lists, and no capabilities that rpm finds in files.
 * So shared libraries, pkg-config, perl, python and programs are derived from the names, which follow Debian's policy.
 */
export function rpmPackage(stanza: Stanza): RepositoryPackage {
  const { Package: name = "", Version: debianVersion = "" } = stanza;
  const arch = stanza["Architecture"] === "all" ? "noarch" : "x86_64";
  const evr = evrOf(debianVersion);
  const [, epoch = "0", version = "", release = "0"] = /^(?:(\d+):)?([^-]*)(?:-(.*))?$/.exec(evr) ?? [];
  const installedBytes = Number(stanza["Installed-Size"] ?? 0) * 1024;
  const fileName = `${name}-${version}-${release}.${arch}.rpm`;
  return {
    location: `${arch}/${fileName}`,
    sha256: stanza["SHA256"] ?? sha256(fileName),
    fileBytes: Number(stanza["Size"] ?? 0),
    fileTime: madeAt,
    header: {
      name,
      epoch: Number(epoch),
      version,
      release,
      arch,
      isSource: false,
      ...words(stanza),
      installedBytes,
      archiveBytes: installedBytes + 1000,
      builtAt: madeAt,
      buildHost: "localhost",
      sourceRpm: `${(stanza["Source"] ?? name).split(" ")[0]}-${version}-${release}.src.rpm`,
      headerStart: 4504,
      headerEnd: 13_504,
      relations: relationsOf(stanza, { name, arch, evr: `${epoch}:${version}-${release}` }),
      files: programsOf(stanza).map((path) => ({ path, type: "file" })),
    },
  };
}

/** Debian's descriptions are in another file, so this uses texts of their usual length. */
function words(stanza: Stanza) {
  const { Description: summary = "", Section: section = "", Homepage: url = "", Tag: tags = "" } = stanza;
  return {
    summary,
    description: `${summary}. This package belongs to the section ${section}. Tags: ${tags}. Homepage: ${url}.`,
    group: section,
    license: "GPL-2.0-or-later",
    vendor: stanza["Maintainer"] ?? "",
    packager: "https://example.org",
    url,
  };
}

function relationsOf(stanza: Stanza, { name, arch, evr }: { name: string; arch: string; evr: string }) {
  const self: Relation = { name, comparison: "EQ", evr };
  const withArch: Relation = { ...self, name: `${name}(x86-64)` };
  const before = relationsIn(stanza["Pre-Depends"]).map((one): Relation => ({ ...one, isPre: true }));
  return {
    provides: [
      self,
      ...(arch === "x86_64" ? [withArch] : []),
      ...providesIn(stanza["Provides"], evr),
      ...[name, ...namesIn(stanza["Provides"])].flatMap(foundInFiles),
    ],
    requires: [...before, ...relationsIn(stanza["Depends"]), ...sharedLibraries(stanza, arch)],
    conflicts: [...relationsIn(stanza["Conflicts"]), ...relationsIn(stanza["Breaks"])],
    // Debian's Replaces is about files, and has no equivalent among rpm's obsoletes.
    obsoletes: [],
    recommends: relationsIn(stanza["Recommends"]),
    suggests: relationsIn(stanza["Suggests"]),
    enhances: relationsIn(stanza["Enhances"]),
    supplements: [],
  };
}

/** The capabilities that rpm's generators would find. A package that provides a library's name also has its soname. */
function foundInFiles(name: string): Relation[] {
  const soname = sonameOf(name);
  const [, perl] = /^lib(.+)-perl$/.exec(name) ?? [];
  const [, python] = /^python3-(.+)$/.exec(name) ?? [];
  const [, header] = /^(?:lib)?(.+)-dev$/.exec(name) ?? [];
  return [
    ...(soname ? [{ name: soname }] : []),
    ...(perl ? [{ name: `perl(${perl.split("-").map(capitalized).join("::")})` }] : []),
    ...(python ? [{ name: `python3dist(${python})` }] : []),
    ...(header ? [{ name: `pkgconfig(${header})` }] : []),
  ];
}

/** Ignores dependencies with alternatives, because a name alone does not show which of them provides the library. */
function sharedLibraries({ Depends: depends = "" }: Stanza, arch: string): Relation[] {
  if (arch !== "x86_64") return [];
  const plain = depends.split(",").filter((clause) => !clause.includes("|"));
  return namesIn(plain.join(",")).flatMap((name) => {
    const soname = sonameOf(name);
    return soname ? [{ name: soname }] : [];
  });
}

/** libssl3 → libssl.so.3()(64bit), libpcre2-8-0 → libpcre2-8.so.0()(64bit) */
function sonameOf(name: string): string | undefined {
  const [, stem, version] = /^(lib.*\d)-(\d+)[a-z]?$/.exec(name) ?? /^(lib.*[^\d-])(\d+)[a-z]?$/.exec(name) ?? [];
  return stem && `${stem}.so.${version}()(64bit)`;
}

const programsOf = ({ Package: name = "", Section: section = "" }: Stanza): string[] =>
  sectionsWithoutPrograms.test(section) || /^lib|-(dev|doc|data|common|dbg)$/.test(name) ? [] : [`/usr/bin/${name}`];

const capitalized = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
