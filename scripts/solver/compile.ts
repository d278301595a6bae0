/** Compiles source trees to solver.wasm. The same inputs give the same bytes, whatever their folder. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { command } from "../launch/command.ts";
import { nativeFolder } from "./places.ts";
import type { SourceTrees } from "./sources.ts";
import { target } from "./toolchain.ts";
import { type UnitGroup, unitGroups } from "./units.ts";

/** An isolate has 128 MB in total. Beyond this limit an allocation fails and ends the instance, but not the isolate. */
const maxMemoryBytes = 100 << 20;
const stackBytes = 1 << 20;

/** Compiles, links and optimises below `folder`, and returns the resulting file. */
export async function compileSolver(trees: SourceTrees, folder: string): Promise<string> {
  const generated = join(folder, "generated");
  writeGeneratedHeaders(trees.libsolv, generated);
  const units = unitGroups(trees, generated).flatMap((group) => group.files.map((file) => ({ group, file })));
  const objects = units.map(({ group, file }) => join(folder, `${group.name}-${file}.o`));
  await inParallel(units, ({ group, file }, index) => compileUnit(group, file, objects[index] ?? "", folder));
  return optimise(await link(objects, folder), folder);
}

function writeGeneratedHeaders(libsolv: string, folder: string): void {
  mkdirSync(join(folder, "solv"), { recursive: true });
  const header = solvVersionHeader(readFileSync(join(libsolv, "src/solvversion.h.in"), "utf8"), versionOf(libsolv));
  for (const place of ["solvversion.h", "solv/solvversion.h"]) writeFileSync(join(folder, place), header);
}

/** libsolv's version.cmake: SET(LIBSOLV_MAJOR "0") … */
function versionOf(libsolv: string): Record<string, string> {
  const text = readFileSync(join(libsolv, "VERSION.cmake"), "utf8");
  const parts = [...text.matchAll(/SET\(LIBSOLV_(MAJOR|MINOR|PATCH) "(\d+)"\)/g)];
  return Object.fromEntries(parts.map(([, part = "", value = ""]) => [part, value]));
}

const features = new Set(["FEATURE_LINKED_PKGS", "FEATURE_COMPLEX_DEPS", "FEATURE_MULTI_SEMANTICS"]);
const extFeatures = new Set(["FEATURE_RPMMD", "FEATURE_SUSEREPO", "FEATURE_RPMPKG", "FEATURE_DEBIAN"]);

/** The header that CMake's configure_file would write. */
function solvVersionHeader(template: string, version: Record<string, string>): string {
  return template
    .replace(/^#cmakedefine LIBSOLV(EXT)?_(\w+)$/gm, (_, ext: string | undefined, feature: string) =>
      (ext ? extFeatures : features).has(feature) ? `#define LIBSOLV${ext ?? ""}_${feature}` : "",
    )
    .replaceAll("@VERSION@", `${version.MAJOR}.${version.MINOR}.${version.PATCH}`)
    .replaceAll(/@LIBSOLV_(\w+)@/g, (_, part: string) => version[part] ?? "");
}

async function compileUnit(group: UnitGroup, file: string, object: string, folder: string): Promise<void> {
  const code = [
    "-O2",
    "-g0",
    "-DNDEBUG",
    "-mbulk-memory",
    "-ftls-model=local-exec",
    "-ffunction-sections",
    "-fdata-sections",
  ];
  // No warnings for the libraries' code. units.ts enables those for ours with later options.
  const warnings = group.folder === nativeFolder ? [] : ["-w"];
  const prefix = `-ffile-prefix-map=${folder}=.`;
  const source = join(group.folder, `${file}.c`);
  await command("clang", [target, ...code, ...warnings, prefix, ...group.flags, "-c", source, "-o", object], {
    onLine: (line) => console.log(`solver: ${line}`),
  });
}

async function link(objects: readonly string[], folder: string): Promise<string> {
  const linked = join(folder, "linked.wasm");
  const sizes = [`--max-memory=${maxMemoryBytes}`, `-z,stack-size=${stackBytes}`];
  const options = ["--gc-sections", "--strip-all", "--wrap=pool_parserpmrichdep", ...sizes];
  const forLinker = options.map((option) => `-Wl,${option}`);
  await command("clang", [target, "-mexec-model=reactor", ...objects, "-o", linked, ...forLinker]);
  return linked;
}

async function optimise(linked: string, folder: string): Promise<string> {
  const made = join(folder, "solver.wasm");
  await command("wasm-opt", ["-O3", "--enable-bulk-memory", "--strip-debug", "--strip-producers", linked, "-o", made]);
  return made;
}

async function inParallel<T>(items: readonly T[], work: (item: T, index: number) => Promise<void>): Promise<void> {
  const waiting = items.entries();
  const lane = async () => {
    for (const [index, item] of waiting) await work(item, index);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, lane));
}
