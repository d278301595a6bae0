import { readCheckpoint } from "#lib/attest/log/checkpoint";
import { statementDigest } from "#lib/attest/dsse";
import { entryOf, writeProof } from "#lib/attest/log/proof";
import { nodesInTiles } from "#lib/attest/log/tiles";
import { inclusionProof, leafHash } from "#lib/attest/log/tree";
import { getAttestations } from "#domain/builds/attestation";
import type { LogEnv } from "#domain/log/publish-log";
import { cosign, type WitnessEnv } from "#domain/log/witnesses";
import { Refusal } from "#domain/refusal";
import type { Services } from "#domain/services";
import { logFailure } from "#log/log";
import type { Build } from "#storage/builds";
import { findCheckpoint, readTile } from "#storage/log-files";
import {
  listUnlogged,
  listUnloggedBuilds,
  saveLogged,
  saveLogPosition,
  type UnloggedPublication,
} from "#storage/logged-images";

export type PublicLogEnv = LogEnv & WitnessEnv & Pick<Env, "IMAGE_LOG">;

/** How many published versions one run logs. */
const atOnce = 50;

/**
 * Puts the images of published versions into the public log, unless they are already in it. Every step can be repeated,
 * because the same image has the same entry and the log stores each entry once. Then requests cosignatures from the
 * witnesses of the log.
 */
export async function logPublished({ env, db }: Services<PublicLogEnv>): Promise<void> {
  if (!env.ATTESTATION_KEY) return;
  for (const publication of await listUnlogged(db, atOnce)) await logPublication({ env, db }, publication);
  await cosign(env);
}

/** Logs the images of one version. If that fails, the next sweep does it. */
export async function logPublication(services: Services<PublicLogEnv>, version: UnloggedPublication): Promise<void> {
  if (!services.env.ATTESTATION_KEY) return;
  try {
    await appendAll(services, version);
  } catch (error) {
    logFailure("could not log a published version", error, { publication: version.publicationId });
  }
}

async function appendAll(
  { env, db }: Services<PublicLogEnv>,
  { publicationId, buildIds }: UnloggedPublication,
): Promise<void> {
  for (const build of await listUnloggedBuilds(db, buildIds)) {
    const entry = await findEntry({ env, db }, build);
    if (entry !== undefined) await append({ env, db }, build, entry);
  }
  await saveLogged(db, publicationId);
}

/** The entry of an image. Undefined if the image has no provenance because its sources are gone. */
async function findEntry(services: Services<PublicLogEnv>, build: Build): Promise<string | undefined> {
  try {
    const { provenance } = await getAttestations(services, build);
    return build.sha256 === null ? undefined : entryOf({ image: build.sha256, statement: statementDigest(provenance) });
  } catch (error) {
    if (error instanceof Refusal && error.code === "build_not_found") return undefined;
    throw error;
  }
}

async function append({ env, db }: Services<PublicLogEnv>, build: Build, entry: string): Promise<number> {
  const [position = 0] = await env.IMAGE_LOG.getByName("log").append([entry]);
  await saveLogPosition(db, build.id, position);
  return position;
}

/**
 * The proof that the public log has the image (c2sp.org/tlog-proof). Undefined if the image was never published, or is
 * not logged yet.
 */
export async function findProof(services: Services<PublicLogEnv>, build: Build): Promise<string | undefined> {
  const { logPosition: position } = build;
  const entry = position === null ? undefined : await findEntry(services, build);
  if (position === null || entry === undefined) return undefined;
  const proof = await proofAt(services.env.BLOBS, position, entry);
  if (proof !== undefined) return proof;
  // The image was signed again with a different statement, or the row comes from a restored database.
  return await proofAt(services.env.BLOBS, await append(services, build, entry), entry);
}

/** Undefined if the log has no entry or a different one at this position. */
async function proofAt(blobs: R2Bucket, position: number, entry: string): Promise<string | undefined> {
  const note = await noteOver(blobs, position);
  const size = sizeOf(note);
  if (note === undefined || position >= size) return undefined;
  const nodeAt = nodesInTiles(size, (path) => readTile(blobs, path));
  if (!leafHash(entry).equals(await nodeAt(0, position))) return undefined;
  return writeProof({ position, hashes: await inclusionProof(position, size, nodeAt), note });
}

/**
 * The first of these checkpoints that covers the position: the one that all witnesses have cosigned, the one that any
 * has cosigned, and the newest one. By default, the position is the last one.
 */
async function noteOver(blobs: R2Bucket, position?: number): Promise<string | undefined> {
  const [newest, ...cosigned] = await Promise.all([
    findCheckpoint(blobs),
    findCheckpoint(blobs, "cosigned-by-all"),
    findCheckpoint(blobs, "cosigned"),
  ]);
  const needed = position ?? sizeOf(newest?.note) - 1;
  return (cosigned.find((one) => needed < sizeOf(one?.note)) ?? newest)?.note;
}

const sizeOf = (note: string | undefined): number => (note !== undefined && readCheckpoint(note)?.size) || 0;

/** The newest checkpoint, with any cosignatures that it has. */
export const newestNote = async (blobs: R2Bucket): Promise<string | undefined> => await noteOver(blobs);
