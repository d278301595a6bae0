/** The files of each source tree to compile, and their flags. */
import { join } from "node:path";
import { nativeFolder } from "./places.ts";
import type { SourceTrees } from "./sources.ts";

/** Files that are compiled with the same flags. */
export type UnitGroup = { name: string; folder: string; files: readonly string[]; flags: readonly string[] };

const words = (text: string): string[] => text.trim().split(/\s+/);
const define = (text: string): string[] => words(text).map((name) => `-D${name}`);
const include = (...folders: string[]): string[] => folders.map((folder) => `-I${folder}`);
/** Suppresses warnings in the libraries' headers. */
const asSystem = (flags: string[]): string[] => flags.map((flag) => flag.replace(/^-I/, "-isystem"));
/** Our replacements for headers from a library's configure script, or from a system with users and signals. */
const compat = (name: string): string => join(nativeFolder, "compat", name);

/** SUSE's variant of libsolv, as used by zypper, which can also compare versions and relations as Debian does. */
const libsolv = {
  defines:
    define(`SUSE MULTI_SEMANTICS ENABLE_DEBIAN ENABLE_RPMMD ENABLE_SUSEREPO ENABLE_COMPLEX_DEPS ENABLE_LINKED_PKGS ENABLE_RPMPKG
    LIBSOLV_INTERNAL=1 WITHOUT_COOKIEOPEN _FILE_OFFSET_BITS=64 _GNU_SOURCE HAVE_STRCHRNUL`),
  core: words(`bitmap chksum cleandeps decision dirpool diskusage evr filelistfilter fileprovides linkedpkg md5 order
    pool poolarch poolid poolvendor queue repo repo_solv repo_write repodata repopage selection sha1 sha2 solvable
    solver_util solverdebug solvversion strpool suse transaction userinstalled util`),
  search: words("cplxdeps policy problems rules solver"),
  readers: words(
    `pool_parserpmrichdep repo_content repo_deb repo_rpmmd repo_susetags repo_updateinfoxml repodata_diskusage`,
  ),
};

const liblzma = {
  common: words(`block_decoder block_header_decoder block_util common filter_common filter_decoder filter_flags_decoder
    index_hash stream_decoder stream_flags_common stream_flags_decoder vli_decoder vli_size`),
  check: words("check crc32_fast crc32_table crc64_fast crc64_table sha256"),
  lz: words("lz_decoder"),
  lzma: words("lzma2_decoder lzma_decoder"),
  simple: words("simple_coder simple_decoder x86"),
};

/** Each branch calls native/limits.c, which ends a search that takes too long. */
const counted = ["-fsanitize-coverage=trace-pc"];

/** `generated` contains the headers that the source packages' own configuration would generate. */
export function unitGroups(trees: SourceTrees, generated: string): UnitGroup[] {
  const solv = solvFlags(trees, generated);
  return [
    ...solvGroups(trees, solv),
    expatGroup(trees),
    ...lzmaGroups(trees),
    bzip2Group(trees),
    ourGroup(trees, solv),
  ];
}

const expatFolder = (trees: SourceTrees): string => join(trees.expat, "expat/lib");
const lzmaFolder = (trees: SourceTrees): string => join(trees["xz-utils"], "src/liblzma");

function solvFlags(trees: SourceTrees, generated: string): string[] {
  const folders = [generated, join(trees.libsolv, "src"), join(trees.libsolv, "ext"), expatFolder(trees)];
  return [...libsolv.defines, ...include(...folders)];
}

function solvGroups(trees: SourceTrees, flags: string[]): UnitGroup[] {
  const ext = { name: "solvext", folder: join(trees.libsolv, "ext") };
  const before = (name: string) => ["-include", compat(name)];
  return [
    { name: "solv", folder: join(trees.libsolv, "src"), files: libsolv.core, flags },
    { name: "search", folder: join(trees.libsolv, "src"), files: libsolv.search, flags: [...counted, ...flags] },
    { ...ext, files: libsolv.readers, flags },
    { ...ext, files: ["solv_xmlparser"], flags: [...before("expat/refuse_doctype.h"), ...flags] },
    { ...ext, files: ["repo_rpmdb"], flags: [...before("rpm/fopen.h"), ...include(compat("rpm")), ...flags] },
  ];
}

function expatGroup(trees: SourceTrees): UnitGroup {
  const flags = [...define("HAVE_EXPAT_CONFIG_H"), ...include(compat("expat"))];
  return { name: "expat", folder: expatFolder(trees), files: words("xmlparse xmlrole xmltok"), flags };
}

function lzmaGroups(trees: SourceTrees): UnitGroup[] {
  const root = lzmaFolder(trees);
  const parts = words("api common check lz lzma rangecoder delta simple").map((name) => join(root, name));
  const folders = [compat("lzma"), join(trees["xz-utils"], "src/common"), ...parts];
  const flags = [...define("HAVE_CONFIG_H"), ...include(...folders)];
  return Object.entries(liblzma).map(([part, files]) => ({
    name: `lzma-${part}`,
    folder: join(root, part),
    files,
    flags,
  }));
}

function bzip2Group(trees: SourceTrees): UnitGroup {
  const files = words("bzlib crctable decompress huffman randtable");
  return { name: "bzip2", folder: trees.bzip2, files, flags: define("BZ_NO_STDIO") };
}

function ourGroup(trees: SourceTrees, flags: string[]): UnitGroup {
  const libraries = [...flags, ...include(join(lzmaFolder(trees), "api"), trees.bzip2)];
  return {
    name: "kiln",
    folder: nativeFolder,
    files: words("apt deb decompress describe files jobs json limits metadata package pool solve"),
    flags: ["-Wall", "-Wextra", ...asSystem(libraries)],
  };
}
