import { createHash } from "node:crypto";
import { type FrozenInput, isOwnRepository, pieceBytes, storedChecksum, type StoredPackage } from "#lib/contract/index";
import type { Services } from "#domain/services";
import { nextOldKeys, removeBlobs } from "#domain/old-keys";
import { packageBlob, packageBlobOfKey, packagePieceKey, packagesPrefix } from "#storage/blobs";
import type { Build } from "#storage/builds";
import type { Database } from "#storage/db";
import {
  deleteReleasedPackages,
  findNeededPackage,
  listStoredBlobs,
  listBuildsInNeed,
  listNeededPackages,
  needPackages,
  releasePackages,
  saveStoredPackage,
  type NeededPackage,
  type StoredPackageRow,
} from "#storage/stored-packages";
import { findSweepPosition, saveSweepPosition } from "#storage/sweep";

type UsedEnv = Pick<Env, "BLOBS" | "STORED_PACKAGES_GB">;

/** If the setting is 0, empty or invalid, no packages are stored. */
const maxBytes = ({ STORED_PACKAGES_GB: gb }: Pick<Env, "STORED_PACKAGES_GB">): number =>
  Math.max(0, Number(gb) || 0) * 1e9;

/** Stores the packages of a build until the build no longer needs them. */
export async function storePackages(
  { env, db }: Services<UsedEnv>,
  buildId: number,
  input: FrozenInput,
): Promise<void> {
  if (maxBytes(env) > 0) await needPackages(db, buildId, packagesFromOutside(input));
}

/** The packages that this service does not serve itself. */
function packagesFromOutside({ packages, repositories }: FrozenInput): NeededPackage[] {
  const outside = new Map(repositories.filter(({ url }) => !isOwnRepository(url)).map((one) => [one.alias, one]));
  return packages.flatMap(({ repository, checksum, size }) => {
    const from = outside.get(repository);
    if (from === undefined || !isCheckable(checksum.type)) return [];
    return [{ repositoryId: from.id, checksum: storedChecksum(checksum), size }];
  });
}

/** The packages that a build may download and upload. */
export async function packagesOfBuild(
  { env, db }: Services<UsedEnv>,
  { id }: Pick<Build, "id">,
): Promise<StoredPackage[]> {
  if (maxBytes(env) === 0) return [];
  const rows = await listNeededPackages(db, id);
  return rows.map(({ id, repositoryId, checksum, blob, pieces }) => ({
    id,
    repositoryId,
    checksum,
    ...(blob !== null && { pieces }),
  }));
}

interface PieceId {
  packageId: number;
  piece: number;
}

/**
 * The key of a piece of a package. Undefined if the build was frozen without the package, or if the piece is not
 * stored.
 */
export async function keyOfPiece(
  db: Database,
  { id: buildId }: Pick<Build, "id">,
  { packageId, piece }: PieceId,
): Promise<string | undefined> {
  const found = await findNeededPackage(db, { buildId, packageId });
  return found?.blob ? packagePieceKey(found.blob, piece) : undefined;
}

export async function readPiece(
  { env, db }: Services<UsedEnv>,
  build: Pick<Build, "id">,
  wanted: PieceId,
): Promise<R2ObjectBody | undefined> {
  const key = await keyOfPiece(db, build, wanted);
  return key === undefined ? undefined : ((await env.BLOBS.get(key)) ?? undefined);
}

export type Piece = PieceId & {
  size: number;
  sha256: string;
  body: ReadableStream<Uint8Array>;
};

/** Stores a piece, unless the package is complete. No row names the piece until then. */
export async function storePiece(
  { env, db }: Services<UsedEnv>,
  { id: buildId, uid }: Pick<Build, "id" | "uid">,
  { packageId, piece, size, sha256, body }: Piece,
): Promise<"stored" | "unknown" | "wrong_digest"> {
  const needed = await findNeededPackage(db, { buildId, packageId });
  if (!needed || size > pieceBytes) return "unknown";
  if (needed.blob !== null) {
    // Other builds may read it by now, and its bytes were compared with the checksum. They must stay.
    await body.cancel();
    return "stored";
  }
  const fixed = new FixedLengthStream(size);
  const key = packagePieceKey(packageBlob(uid, packageId), piece);
  const written = env.BLOBS.put(key, fixed.readable, { sha256 }).then(
    () => "stored" as const,
    (error: unknown) => {
      if (isWrongDigest(error)) return "wrong_digest" as const;
      throw error;
    },
  );
  const [result] = await Promise.all([written, body.pipeTo(fixed.writable)]);
  return result;
}

const isWrongDigest = (error: unknown): boolean => /10037|checksum|hash/i.test(String(error));

/**
 * Records that all pieces of a package are stored, if together they match the frozen file. If the limit is reached, the
 * package is not stored, and the sweep removes the pieces.
 */
export async function completePackage(
  { env, db }: Services<UsedEnv>,
  { id: buildId, uid }: Pick<Build, "id" | "uid">,
  { packageId, pieces }: { packageId: number; pieces: number },
): Promise<{ stored: boolean } | "unknown" | "wrong_digest"> {
  const row = await findNeededPackage(db, { buildId, packageId });
  if (!row) return "unknown";
  if (row.blob !== null) return { stored: true };
  const blob = packageBlob(uid, packageId);
  const size = await checkedSize(env.BLOBS, row, { blob, pieces });
  if (size === undefined) return "wrong_digest";
  if (await saveStoredPackage(db, { id: packageId, blob, pieces, size, maxBytes: maxBytes(env) }))
    return { stored: true };
  // Another agent may have stored the same file first.
  const other = await findNeededPackage(db, { buildId, packageId });
  return { stored: (other?.blob ?? null) !== null };
}

const checkable = ["md5", "sha1", "sha256", "sha384", "sha512"];
const isCheckable = (type: string): boolean => checkable.includes(type);

/** The total size of the pieces. Undefined if one is missing, or if together they do not match the file. */
async function checkedSize(
  blobs: R2Bucket,
  { checksum }: Pick<StoredPackageRow, "checksum">,
  { blob, pieces }: { blob: string; pieces: number },
): Promise<number | undefined> {
  const [type = "", value] = checksum.split(":");
  const digest = createHash(type);
  let size = 0;
  for (let piece = 1; piece <= pieces; piece++) {
    const found = await blobs.get(packagePieceKey(blob, piece));
    if (!found) return undefined;
    for await (const bytes of found.body) digest.update(bytes);
    size += found.size;
  }
  return digest.digest("hex") === value ? size : undefined;
}

const graceMs = 60 * 60_000;
/** How many builds and packages one run checks. */
const atOnce = 100;
const needsPosition = "package-needs/";

/** Releases the packages of builds that ended without an image, or whose image no longer exists. */
export async function releaseUnneededPackages({ db }: Pick<Services, "db">, now: number): Promise<void> {
  const after = Number((await findSweepPosition(db, needsPosition)) ?? 0);
  const builds = await listBuildsInNeed(db, { after, limit: atOnce });
  const next = builds.length === atOnce ? builds.at(-1)?.id.toString() : undefined;
  await saveSweepPosition(db, needsPosition, next);
  const over = builds.filter(({ needs }) => !needs).map(({ id }) => id);
  if (over.length > 0) await releasePackages(db, over, new Date(now));
}

/** Removes packages that no build has needed for an hour: the row first, so that no row names deleted pieces. */
export async function removeReleasedPackages({ env, db }: Services, now: number): Promise<void> {
  const gone = await deleteReleasedPackages(db, { before: new Date(now - graceMs), limit: atOnce });
  const keys = gone.flatMap(({ blob, pieces }) =>
    blob === null ? [] : Array.from({ length: pieces }, (_, n) => packagePieceKey(blob, n + 1)),
  );
  await removeBlobs(env, keys);
}

/**
 * Removes pieces that no row names, because their agent was killed, another agent was faster, or the limit was reached.
 */
export async function removeStrayPieces({ env, db }: Services, now: number): Promise<void> {
  const old = await nextOldKeys({ env, db }, { prefix: packagesPrefix, now });
  const named = await listStoredBlobs(db, [...new Set(old.map(packageBlobOfKey))]);
  await removeBlobs(
    env,
    old.filter((key) => !named.has(packageBlobOfKey(key))),
  );
}
