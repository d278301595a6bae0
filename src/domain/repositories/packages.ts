import type { Services } from "#domain/services";
import { Arch, evr } from "#lib/contract/index";
import { baseSystemByPackages, type KnownBaseSystem } from "#domain/repositories/base-system";
import { type ImportLimits, refuseMore } from "#domain/repositories/import-limits";
import { ControlWriter } from "#domain/repositories/controls";
import { countedLists } from "#domain/repositories/counted-lists";
import { PartWriter } from "#domain/repositories/parts";
import { packageTypeOfRepository } from "#model/catalogue";
import { rest } from "#lib/loop/pace";
import type { ImportProgress } from "#model/import-progress";
import type { OtherDecompressor } from "#lib/repodata/decompress";
import { type InflationLimits, metadataInflation } from "#lib/repodata/limits";
import type { Download, OpenedRepository, RepositoryPart } from "#lib/repodata/opened-repository";
import { onlyPackages } from "#lib/repodata/only-packages";
import { openPart } from "#lib/repodata/repository";
import { type ListedPackage, type SearchRow, patternRow, searchRow } from "#lib/repodata/search-rows";
import { slices } from "#lib/repodata/slices";
import { streamOf } from "#lib/repodata/streams";
import { decompressed } from "#lib/solver/decoder";
import { importedParts, type ImportOptions } from "#lib/solver/import";
import type { Repository as SolverRepository } from "#lib/solver/repository";
import { LockTimeout } from "#lib/solver/pool";
import { importPool, solverPool } from "#lib/solver/shared";
import type { Solver } from "#lib/solver/solver";
import type { Database } from "#storage/db";
import { savePackages } from "#storage/packages";

/** The packages to read, their source, and where to store them. */
export interface PackageSource {
  repositoryId: number;
  importId: string;
  opened: OpenedRepository;
  download: Download;
  /** The base systems that the packages could be for. */
  candidates: readonly KnownBaseSystem[];
  limits: ImportLimits;
  onProgress: (progress: ImportProgress) => Promise<void>;
}

export interface ImportedPackages {
  /** Keys of the .solv files. */
  parts: string[];
  packageCount: number;
  /** The size of the import's rows. */
  bytes: number;
  arches: Arch[];
  baseSystem: string | undefined;
}

/**
 * How long an import may read, because other imports of the isolate wait for it. If the service is busy, the import
 * pauses for most of that time.
 */
const maxMs = 300_000;

/** The repository has more packages than this service can read in time. */
export class ImportTookTooLong extends Error {}

/** An import in progress. */
interface Work {
  env: Env;
  db: Database;
  solver: Solver;
  source: PackageSource;
  parts: PartWriter;
  /** The amounts that were found so far. */
  found: ImportLimits;
}

/**
 * Streams the packages, whose files must be local, through libsolv. Every few thousand become .solv parts in R2 and
 * rows in D1. After them come patterns in separate files, and the advisories. Nothing is visible before the repository
 * shows the import. If this throws, the sweep removes what was written.
 */
export async function importPackages({ env, db }: Services, source: PackageSource): Promise<ImportedPackages> {
  const work = async (solver: Solver) => {
    const parts = new PartWriter(solver, env.BLOBS, source);
    const found = { packages: 0, bytes: 0 };
    const at: Work = { env, db, solver, source, parts, found };
    const facts = await addPackages(at);
    await addPatterns(at);
    await addAdvisories(at);
    return { ...facts, packageCount: found.packages, bytes: found.bytes, parts: parts.keys };
  };
  try {
    return await importPool.withEmptySolver(work, { maxMs, packageType: packageTypeOfRepository(source.opened) });
  } catch (error) {
    if (!(error instanceof LockTimeout)) throw error;
    throw new ImportTookTooLong(`Its lists took longer than ${maxMs / 1000} s to read.`, { cause: error });
  }
}

const layouts = { "rpm-md": "primary", yast2: "susetags", deb: "deb" } as const;

async function addPackages(work: Work): Promise<Pick<ImportedPackages, "arches" | "baseSystem">> {
  const { solver, source, parts } = work;
  const { opened } = source;
  const arches = new Set<string>();
  const controls = new ControlWriter(work.env.BLOBS, source);
  let baseSystem: string | undefined;
  const lists = countedLists(opened.packages, source.download);
  const counted = { ...work, source: { ...source, download: lists.download } };
  const isNew = opened.packages.length === 1 ? () => true : unlessRepeated();
  for (const list of opened.packages) {
    const options = optionsOf(opened, controls);
    for await (const part of importedParts(solver, await opening(counted, list), layouts[opened.type], options)) {
      solverPool.trim();
      await addTexts(part, work);
      if (controls.isFull) await controls.flush();
      parts.add(part);
      await rest();
      await addRows(work, countedRows(rowsOf(part, { arches, isNew, opened }), work));
      await source.onProgress({ packages: work.found.packages, percent: lists.percent() });
      baseSystem ??= findBaseSystem(solver, source);
      if (parts.isFull) await parts.flush();
    }
  }
  await controls.flush();
  await parts.flush();
  return { arches: buildableArches(arches), baseSystem };
}

/** The older layout has its texts in a separate file, which is read again for each part, so its parts are larger. */
const optionsOf = ({ type, descriptions, only }: OpenedRepository, controls: ControlWriter): ImportOptions => ({
  ...(only && { select: onlyPackages(only) }),
  ...(type === "deb" && { onSlice: (slice) => controls.add(slice) }),
  ...(descriptions && { packagesPerPart: 8000 }),
});

function* rowsOf(
  part: SolverRepository,
  { arches, isNew, opened }: { arches: Set<string>; isNew: (one: ListedPackage) => boolean; opened: OpenedRepository },
): Generator<SearchRow> {
  for (const page of part.pages()) {
    for (const listed of page) {
      arches.add(listed.arch);
      if (isNew(listed)) yield rowOf(listed, opened);
    }
  }
}

/** Throws if there are more rows than may be stored. The import then removes what it has written. */
async function addRows({ db, source, found }: Work, rows: Iterable<SearchRow>): Promise<void> {
  found.bytes += await savePackages(db, source.importId, rows);
  refuseMore(found, source.limits);
}

/** Counts packages and bytes. Patterns do not count as packages. */
function* countedRows(rows: Iterable<SearchRow>, { found, source: { limits } }: Work): Generator<SearchRow> {
  for (const row of rows) {
    found.packages++;
    refuseMore(found, limits);
    yield row;
  }
}

/** The size of a slice. The library goes through all packages of the part once for each slice. */
const textBytes = 2 ** 18;

/** The older layout has summaries and descriptions in a separate file, which is read again for each part. */
async function addTexts(part: SolverRepository, work: Work): Promise<void> {
  const { descriptions } = work.source.opened;
  if (!descriptions) return;
  for await (const { bytes } of slices(await opening(work, descriptions), "susetags", { bytes: textBytes })) {
    part.readSusetagsTexts(bytes, "en");
  }
  part.finish();
}

/** Adds patterns of the older layout as one part. They are in one file or in hundreds of files. */
async function addPatterns(work: Work): Promise<void> {
  const { solver, source, parts } = work;
  if (source.opened.patterns.length === 0) return;
  solver.reset();
  const part = solver.addRepository("part");
  let leftBytes = maxPatternBytes;
  for (const file of source.opened.patterns) {
    const limits = { ...metadataInflation, maxBytes: leftBytes };
    for await (const { bytes } of slices(await opening(work, file, limits), "patterns")) {
      leftBytes -= bytes.byteLength;
      part.readSusetags(bytes);
    }
  }
  part.finish();
  parts.add(part);
  await addRows(work, patternRows(part));
  await parts.flush();
}

function* patternRows(part: SolverRepository): Generator<SearchRow> {
  for (const page of part.pages()) {
    for (const { pattern, ...listed } of page) if (pattern !== undefined) yield patternRow({ ...listed, pattern });
  }
}

/**
 * The limit for all files of patterns together. In the largest distributions they have 10 MB, most of it translations.
 */
const maxPatternBytes = 32 * 2 ** 20;

/** Adds updateinfo.xml. It contains no packages, so a resolution is the same without it. */
async function addAdvisories(work: Work): Promise<void> {
  const { solver, source, parts } = work;
  const { updateinfo } = source.opened;
  if (!updateinfo) return;
  for await (const part of importedParts(solver, await opening(work, updateinfo), "updateinfo")) {
    parts.add(part);
    if (parts.isFull) await parts.flush();
  }
  await parts.flush();
}

const opening = ({ solver, source }: Work, part: RepositoryPart, limits?: InflationLimits) =>
  openPart(part, source.download, decoders(solver), limits);

function rowOf(listed: ListedPackage, { type, packagesFolder: folder }: OpenedRepository): SearchRow {
  const row = searchRow(listed);
  // Debian's lists have only the first line of a description, which is the summary.
  if (type === "deb") return { ...row, description: "" };
  return folder === "" ? row : { ...row, location: `${folder}/${row.location}` };
}

/** Skips repeated packages, because Debian's lists for each architecture repeat the packages for all architectures. */
function unlessRepeated(): (listed: ListedPackage) => boolean {
  const seen = new Set<string>();
  return ({ arch, ...listed }) => {
    if (arch !== "all") return true;
    const key = `${listed.name} ${evr(listed)}`;
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  };
}

function findBaseSystem(solver: Solver, { candidates }: PackageSource): string | undefined {
  if (candidates.length === 0) return undefined;
  solver.ready();
  return baseSystemByPackages(candidates, (capability) => {
    const [name = "", version] = capability.split(" = ");
    return solver.providers(name, version).length > 0;
  });
}

/** The architectures of images that can contain the packages. Packages for all architectures fit every image. */
function buildableArches(arches: ReadonlySet<string>): Arch[] {
  const found: Arch[] = [];
  if (arches.has("x86_64") || arches.has("amd64")) found.push("x86_64");
  if (arches.has("aarch64") || arches.has("arm64")) found.push("aarch64");
  if (["i386", "i486", "i586", "i686"].some((arch) => arches.has(arch))) found.push("i586");
  const isForAll = arches.has("noarch") || arches.has("all");
  return found.length === 0 && isForAll ? [...Arch.options] : found;
}

/** xz and bzip2 are decoded by the solver's own instance, whose memory limit includes them. */
function decoders(solver: Solver): OtherDecompressor {
  return (kind, compressed) => {
    const { maxBytes, maxRatio } = metadataInflation;
    const reader = compressed.values();
    const opened = decompressed(solver.decoder(kind, { maxBytes, maxRatio }), reader);
    return streamOf(opened, async () => void (await reader.return?.()));
  };
}
