import type { Services } from "#domain/services";
import { NameIndex, NameIndexWriter } from "#domain/repositories/name-index";
import { rest } from "#lib/loop/pace";
import { nameIndexKey, nameIndexKeyOfPart } from "#storage/blobs";
import { listForNameIndex } from "#storage/packages";
import type { Repository } from "#storage/repositories";

/** How many packages one query reads. */
const readAtOnce = 1000;

/** Writes the index of an import whose packages are all in the database. */
export async function saveNameIndex(
  { env, db }: Services<Pick<Env, "BLOBS">>,
  { repositoryId, importId }: { repositoryId: number; importId: string },
): Promise<void> {
  const writer = new NameIndexWriter();
  let after = { name: "", id: 0 };
  for (;;) {
    const packages = await listForNameIndex(db, { importId, after, limit: readAtOnce });
    writer.add(packages);
    await rest();
    const last = packages.at(-1);
    if (!last || packages.length < readAtOnce) break;
    after = last;
  }
  const file = writer.written();
  if (file) await env.BLOBS.put(nameIndexKey(repositoryId, importId), file);
}

/** The part of the isolate's 128 MiB that is for indexes: enough for two large distributions. */
const maxCachedBytes = 12 * 2 ** 20;
const maxUnindexed = 1000;

/** Cached indexes by import, the most recently used last. */
const cached = new Map<string, NameIndex>();
/** Imports that have no index and will never get one. */
const unindexed = new Set<string>();

type Shown = Pick<Repository, "id" | "importId" | "parts">;

/** The index of each repository's current import, by repository. Undefined if one of them has none. */
export async function nameIndexesOf(
  env: Pick<Env, "BLOBS">,
  repositories: readonly Shown[],
): Promise<Map<number, NameIndex> | undefined> {
  const indexes = new Map<number, NameIndex>();
  for (const repository of repositories.filter(({ importId, parts }) => importId !== null && parts.length > 0)) {
    const index = await nameIndexOf(env, repository);
    if (!index) return undefined;
    indexes.set(repository.id, index);
  }
  return indexes;
}

async function nameIndexOf(
  env: Pick<Env, "BLOBS">,
  { importId, parts: [part] }: Shown,
): Promise<NameIndex | undefined> {
  if (importId === null || part === undefined || unindexed.has(importId)) return undefined;
  const known = cached.get(importId);
  if (known) return cache(importId, known);
  const blob = await env.BLOBS.get(nameIndexKeyOfPart(part));
  if (blob) return cache(importId, new NameIndex(new Uint8Array(await blob.arrayBuffer())));
  if (unindexed.size >= maxUnindexed) unindexed.clear();
  unindexed.add(importId);
  return undefined;
}

function cache(importId: string, index: NameIndex): NameIndex {
  cached.delete(importId);
  cached.set(importId, index);
  let bytes = [...cached.values()].reduce((sum, one) => sum + one.bytes, 0);
  for (const [oldest, one] of cached) {
    if (bytes <= maxCachedBytes) break;
    bytes -= one.bytes;
    cached.delete(oldest);
  }
  return index;
}
