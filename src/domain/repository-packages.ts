import type { Arch } from "#contract/index";
import { baseSystemByPackages, type KnownBaseSystem } from "#domain/repository-base-system";
import type { OtherDecompressor } from "#repodata/decompress";
import { metadataInflation } from "#repodata/limits";
import { type Download, type OpenedRepository, openPart } from "#repodata/repository";
import { type ListedPackage, type SearchRow, searchRow } from "#repodata/search-rows";
import { slices } from "#repodata/slices";
import { streamOf } from "#repodata/streams";
import { decompressed } from "#solver/decoder";
import { importedParts } from "#solver/import";
import type { Repository as SolverRepository } from "#solver/repository";
import { solverRoom } from "#solver/shared";
import type { Solver } from "#solver/solver";
import { solvKey } from "#storage/blobs";
import type { Database } from "#storage/db";
import { savePackages } from "#storage/packages";

/** What is read where, and under which name it is kept. */
export interface PackageSource {
  repositoryId: number;
  importId: string;
  opened: OpenedRepository;
  download: Download;
  /** Asked when the index did not say what the repository is for. */
  candidates: readonly KnownBaseSystem[];
}

export interface ImportedPackages {
  /** Keys of the .solv files. */
  parts: string[];
  packageCount: number;
  arches: Arch[];
  baseSystem: string | undefined;
}

/**
 * Streams the packages through libsolv: a .solv part into R2 and rows into D1 for every few thousand. Nothing of it is seen
 * before the repository shows the import; when this throws, what is there already is garbage.
 */
export function importPackages(env: Env, db: Database, source: PackageSource): Promise<ImportedPackages> {
  return solverRoom.withEmptySolver(async (solver) => {
    const imported: ImportedPackages = { parts: [], packageCount: 0, arches: [], baseSystem: undefined };
    const { opened, download } = source;
    const stream = await openPart(opened.packages, download, decoders(solver));
    const arches = new Set<string>();
    for await (const part of importedParts(solver, stream, opened.type === "yast2" ? "susetags" : "primary")) {
      await addTexts(part, solver, source);
      await savePart(env, part, imported, source);
      imported.packageCount += await saveRows(db, part, arches, source);
      imported.baseSystem ??= findBaseSystem(solver, source);
    }
    return { ...imported, arches: buildableArches(arches) };
  });
}

/** The older layout keeps summaries and descriptions in a file of their own; it is read again for each part. */
async function addTexts(part: SolverRepository, solver: Solver, { opened, download }: PackageSource): Promise<void> {
  if (!opened.descriptions) return;
  const stream = await openPart(opened.descriptions, download, decoders(solver));
  for await (const { bytes } of slices(stream, "susetags")) part.readSusetagsTexts(bytes, "en");
  part.finish();
}

async function savePart(
  env: Env,
  part: SolverRepository,
  { parts }: ImportedPackages,
  { repositoryId, importId }: PackageSource,
): Promise<void> {
  const key = solvKey(repositoryId, importId, parts.length);
  await env.BLOBS.put(key, part.write("solving"));
  parts.push(key);
}

async function saveRows(
  db: Database,
  part: SolverRepository,
  arches: Set<string>,
  source: PackageSource,
): Promise<number> {
  let count = 0;
  for (const page of part.pages()) {
    for (const { arch } of page) arches.add(arch);
    await savePackages(
      db,
      source,
      page.map((listed) => rowOf(listed, source.opened.packagesFolder)),
    );
    count += page.length;
  }
  return count;
}

function rowOf(listed: ListedPackage, folder: string): SearchRow {
  const row = searchRow(listed);
  return folder === "" ? row : { ...row, location: `${folder}/${row.location}` };
}

function findBaseSystem(solver: Solver, { candidates }: PackageSource): string | undefined {
  if (candidates.length === 0) return undefined;
  solver.ready();
  return baseSystemByPackages(candidates, (capability) => solver.providers(capability).length > 0);
}

/** What images its packages can go into; noarch ones go into all. */
function buildableArches(arches: ReadonlySet<string>): Arch[] {
  const found: Arch[] = [];
  if (arches.has("x86_64")) found.push("x86_64");
  if (["i386", "i486", "i586", "i686"].some((arch) => arches.has(arch))) found.push("i586");
  return found.length === 0 && arches.has("noarch") ? ["x86_64", "i586"] : found;
}

/** xz and bzip2 are decoded by the solver's own instance, whose memory the limits below count into. */
function decoders(solver: Solver): OtherDecompressor {
  return (kind, compressed) => {
    const { maxBytes, maxRatio } = metadataInflation;
    const reader = compressed.values();
    const opened = decompressed(solver.decoder(kind, { maxBytes, maxRatio }), reader);
    return streamOf(opened, async () => void (await reader.return?.()));
  };
}
