import { Buffer } from "node:buffer";
import { readCheckpoint, signCheckpoint, isSignedBy, type Checkpoint } from "#lib/attest/log/checkpoint";
import { entryBundle, hashesIn, newTiles, tilePath, type Tile } from "#lib/attest/log/tiles";
import { rootOf, type NodeAt } from "#lib/attest/log/tree";
import type { SigningKey } from "#lib/attest/signing-key";
import { signingKey, type AttestationEnv } from "#domain/builds/attestation-keys";
import { findCheckpoint, putTile, replaceCheckpoint } from "#storage/log-files";

export type LogEnv = Pick<Env, "BLOBS"> & AttestationEnv;

/** The entries of the log, and the hashes over them. */
export interface LogSource {
  readonly size: number;
  entries: (from: number, to: number) => string[];
  /** The hashes of complete subtrees, in one level of the tree. */
  hashes: (level: number, from: number, to: number) => Buffer[];
  nodeAt: NodeAt;
}

/**
 * Writes the tiles for the new entries, and then a signed checkpoint. Throws instead of signing a checkpoint that does
 * not continue the published one, because anyone who has stored that one would see a forked log.
 */
export async function publishLog(env: LogEnv, log: LogSource): Promise<void> {
  const key = await signingKey(env);
  const { size } = log;
  const stored = await findCheckpoint(env.BLOBS);
  const published = stored && readCheckpoint(stored.note);
  if (stored && !published) throw new Error("the checkpoint of the public log cannot be read");
  if (published) await refuseOtherHistory(published, log);
  if (stored && published?.size === size && isSignedBy(stored.note, [key])) return;
  const root = await rootOf(size, log.nodeAt);
  const tiles = newTiles(published?.size ?? 0, size);
  await Promise.all(tiles.map((tile) => putTile(env.BLOBS, tilePath(tile), contentOf(tile, log))));
  const note = await signCheckpoint({ origin: published?.origin ?? originOf(env, key), size, root }, key);
  if (!(await replaceCheckpoint(env.BLOBS, note, stored)))
    throw new Error("another writer has replaced the checkpoint of the public log");
}

async function refuseOtherHistory({ size, root }: Checkpoint, log: LogSource): Promise<void> {
  if (size > log.size)
    throw new Error(`the published log has ${size} entries, but its object has only ${log.size}: it was restored?`);
  if (!(await rootOf(size, log.nodeAt)).equals(root))
    throw new Error(`the first ${size} entries of the published log are not those of its object`);
}

function contentOf(tile: Tile, log: LogSource): Buffer {
  const { level, from, to } = hashesIn(tile, tile.level === "entries" ? 0 : tile.level);
  return tile.level === "entries" ? entryBundle(log.entries(from, to)) : Buffer.concat(log.hashes(level, from, to));
}

/** The name of the log: its address without the scheme. It stays the same when the address or the key changes. */
function originOf({ BASE_URL: baseUrl }: LogEnv, key: SigningKey): string {
  if (baseUrl === "") return `urn:kiln:service:${key.id}`;
  const { host, pathname } = new URL(baseUrl);
  return `${host}${pathname.replace(/\/+$/, "")}/log`;
}
