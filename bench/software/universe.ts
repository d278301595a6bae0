/** Repositories of the size of a distribution, made from apt's package indexes on this machine. */
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { z } from "zod";
import { writeRpmMd } from "#lib/repodata/rpm-md";
import type { RepositoryPackage } from "#lib/repodata/rpm-md-package";
import { type PackageIndex, packageIndexes, readStanzas, type Stanza } from "./debian.ts";
import { madeAt, rpmPackage } from "./rpm-package.ts";

/** The number of packages, spread over a repository, that are added to appliances one by one. */
const sampleCount = 100;

const Made = z.array(
  z.object({ name: z.string(), packageCount: z.number(), somePackage: z.string(), samples: z.array(z.string()) }),
);

export interface Universe {
  /** Contains a folder for each repository, with its name. */
  folder: string;
  /** `somePackage` is a name for checking whether the repository can be searched. */
  repositories: z.infer<typeof Made>;
}

/** Opens the universe, which is made once for each state of apt's lists and of this code. */
export async function openUniverse(say: (line: string) => void): Promise<Universe> {
  const indexes = packageIndexes();
  const folder = join(cacheFolder(), keyOf(indexes));
  if (!existsSync(folder)) await make(indexes, folder, say);
  return { folder, repositories: Made.parse(JSON.parse(readFileSync(join(folder, "universe.json"), "utf8"))) };
}

/** Uses another name until the universe is complete, so that an interrupted run leaves no incomplete one. */
async function make(indexes: PackageIndex[], folder: string, say: (line: string) => void): Promise<void> {
  mkdirSync(dirname(folder), { recursive: true });
  const unfinished = mkdtempSync(`${folder}-`);
  try {
    const made: Universe["repositories"] = [];
    for (const [at, index] of indexes.entries()) {
      say(`making ${index.name} from ${index.file}`);
      const stanzas = readStanzas(index);
      const packages = [...stanzas.map(rpmPackage), ...(isMain(stanzas) ? patternsOf(stanzas).map(rpmPattern) : [])];
      const { header } = packages[packages.length >> 1] ?? {};
      if (!header) continue;
      await write(join(unfinished, `${at}`), packages);
      renameSync(join(unfinished, `${at}`), join(unfinished, index.name));
      made.push({
        name: index.name,
        packageCount: packages.length,
        somePackage: header.name,
        samples: samplesOf(packages),
      });
    }
    writeFileSync(join(unfinished, "universe.json"), JSON.stringify(made));
    renameSync(unfinished, folder);
  } finally {
    rmSync(unfinished, { recursive: true, force: true });
  }
}

function samplesOf(packages: RepositoryPackage[]): string[] {
  const step = Math.max(1, Math.floor(packages.length / sampleCount));
  return packages.filter((_, at) => at % step === step >> 1).map(({ header }) => header.name);
}

async function write(folder: string, packages: RepositoryPackage[]): Promise<void> {
  for (const { path, bytes } of await writeRpmMd(packages, packages.length, madeAt)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), bytes);
  }
}

const isBase = ({ Essential: essential, Priority: priority = "" }: Stanza): boolean =>
  essential === "yes" || ["required", "important"].includes(priority);

interface Pattern {
  name: string;
  summary: string;
  requires: string[];
}

/** The patterns belong to the distribution itself. An update repository has few or no essential packages. */
const isMain = (stanzas: Stanza[]): boolean => stanzas.filter((one) => one["Essential"] === "yes").length > 10;

function patternsOf(stanzas: Stanza[]): Pattern[] {
  const base = stanzas.filter(isBase).flatMap(({ Package: name }) => name ?? []);
  const desktop = ["patterns-base", "gnome-core", "gdm3"];
  return [
    { name: "base", summary: "Base system", requires: base },
    { name: "desktop", summary: "Graphical desktop", requires: desktop },
  ];
}

/** A package that provides `pattern() = name`, as in openSUSE. */
function rpmPattern({ name, summary, requires }: Pattern): RepositoryPackage {
  const made = rpmPackage({
    Package: `patterns-${name}`,
    Version: "1-1",
    Architecture: "all",
    Section: "metapackages",
    Description: summary,
    Depends: requires.join(", "),
  });
  const capabilities = [
    { name: "pattern()", comparison: "EQ" as const, evr: name },
    { name: "pattern-category()", comparison: "EQ" as const, evr: "System" },
    { name: "pattern-visible()" },
  ];
  const { relations } = made.header;
  const provides = [...relations.provides, ...capabilities];
  return { ...made, header: { ...made.header, files: [], relations: { ...relations, provides } } };
}

/** A hash of everything that determines a universe. */
function keyOf(indexes: PackageIndex[]): string {
  const hash = createHash("sha256");
  const code = readdirSync(import.meta.dirname).filter((name) => name.endsWith(".ts"));
  const makers = code.filter((name) => ["debian.ts", "relations.ts", "rpm-package.ts", "universe.ts"].includes(name));
  for (const name of makers.toSorted()) hash.update(readFileSync(join(import.meta.dirname, name)));
  for (const { name, file } of indexes) hash.update(name).update(readFileSync(file));
  return hash.digest("hex").slice(0, 16);
}

const cacheFolder = () => join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "kiln/bench");
