import { readFile, writeFile } from "node:fs/promises";
import { notKnown } from "./result.ts";
import { FileTexts, scan } from "./root-scan.ts";
import type { RootTree } from "./root-walk.ts";

/** Larger copyright files are not read. */
const maxBytes = 2 * 1024 * 1024;
const maxStatusBytes = 64 * 1024 * 1024;
const maxLicenceCharacters = 4096;

/**
 * Adds licences and source packages to KIWI's list of the packages (`.packages`) of a Debian image. The licences come
 * from the packages' machine-readable copyright files, because dpkg does not know them.
 */
export async function addLicencesAndSources(list: string, root: RootTree, signal: AbortSignal): Promise<void> {
  const { licences, sources } = await factsIn(root, signal);
  const lines = (await readFile(list, "utf8")).split("\n").map((line) => {
    const [name = "", epoch, version, release, arch, disturl, licence] = line.split("|");
    if (disturl !== notKnown) return line;
    const known = licence === notKnown ? (licences.get(name) ?? notKnown) : licence;
    return [name, epoch, version, release, arch, written(sources.get(name)), known].join("|");
  });
  await writeFile(list, lines.join("\n"));
}

const written = (source: Source | undefined): string => (source ? `${source.name} ${source.version}` : notKnown);

interface Facts {
  /** By package name. */
  licences: ReadonlyMap<string, string>;
  sources: ReadonlyMap<string, Source>;
}

/** Packages of one source often link to the same copyright file. */
async function factsIn(root: RootTree, signal: AbortSignal): Promise<Facts> {
  const licences = new Map<string, string>();
  const links = new Map<string, string>();
  let sources: Facts["sources"] = new Map();
  const texts = new FileTexts();
  for await (const found of scan(root, signal)) {
    const { path, type, target } = found;
    if (path === "/var/lib/dpkg/status" && type === "f") sources = sourcesIn(texts.of(found, maxStatusBytes));
    const [, name, file] = /^\/usr\/share\/doc\/([^/]+)(\/copyright)?$/.exec(path) ?? [];
    if (name === undefined) continue;
    if (type === "l") {
      const other = /^(?:\.\.\/)?([^/.][^/]*)(?:\/copyright)?$/.exec(target)?.[1];
      if (other !== undefined) links.set(name, other);
    } else if (file !== undefined && type === "f") {
      const licence = licenceOf(texts.of(found, maxBytes));
      if (licence !== "") licences.set(name, licence);
    }
  }
  const linked = [...links].flatMap(([name, other]) => {
    const licence = licences.get(other);
    return licence === undefined ? [] : [[name, licence] as const];
  });
  return { licences: new Map([...linked, ...licences]), sources };
}

/** The distinct licence names in a copyright file of Debian's format 1.0, joined by "and". Exported for its test. */
export function licenceOf(copyright: string): string {
  if (!/^Format(?:-Specification)?:[^\n]*copyright-format/i.test(copyright.trimStart())) return "";
  const names = copyright.split("\n").flatMap((line) => licenceIn(line) ?? []);
  const distinct = [...new Set(names)];
  const joined = distinct.length === 1 ? distinct : distinct.map((name) => (/ or /i.test(name) ? `(${name})` : name));
  return joined.join(" and ").slice(0, maxLicenceCharacters);
}

/**
 * The value of a field "License". Undefined if it would break KIWI's list. Uses no pattern for the value, because a
 * build's own packages contain these files: one long line could occupy the agent for minutes.
 */
function licenceIn(line: string): string | undefined {
  if (line.length > maxLicenceCharacters || !/^License:/i.test(line)) return undefined;
  const value = line.slice("License:".length).trim();
  return value === "" || value.includes("|") ? undefined : value;
}

/** A source package of Debian. */
interface Source {
  name: string;
  version: string;
}

/**
 * The sources of the packages in dpkg's status file, by package name. Without a field `Source`, it is the package's own
 * name.
 */
function sourcesIn(status: string): ReadonlyMap<string, Source> {
  const sources = status.split(/\n{2,}/).flatMap((paragraph) => {
    const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(paragraph)?.[1]?.trim();
    const [name, version] = [field("Package"), field("Version")];
    if (name === undefined || version === undefined) return [];
    const [, source = name, its = version] = /^(\S+)(?: \((\S+)\))?$/.exec(field("Source") ?? "") ?? [];
    return [[name, { name: source, version: its }] as const];
  });
  return new Map(sources);
}
