import { createHash } from "node:crypto";
import { quotaBytes, quotaExceeded } from "#domain/accounts/quota";
import { FairTurns } from "#domain/fair-turns";
import type { Services } from "#domain/services";
import { Refusal } from "#domain/refusal";
import { decodePng, encodePng, type Picture } from "#lib/picture/codec";
import { drawBackground, drawLogo } from "#lib/picture/drawing";
import { rest } from "#lib/loop/pace";
import { outlinePng, PictureFault } from "#lib/picture/png";
import { thumbnail } from "#lib/picture/thumbnail";
import { findAppliance, type Appliance } from "#storage/appliances";
import { clearPicture, putPicture, removePicture, savePicture, shownKey, type PictureKind } from "#storage/pictures";

/** A PNG to send. */
export interface ShownPicture {
  size: number;
  etag: string;
  read: (range: { offset: number; length: number }) => Promise<Pick<R2ObjectBody, "body"> | null>;
}

interface PictureLimits {
  maxBytes: number;
  /** The maximum length of each side. */
  maxSide: number;
  /**
   * The maximum for at most 8 bits per colour; half of that for 16 bits. Decoding this many pixels takes 50 ms, during
   * which nothing else runs.
   */
  maxPixels: number;
  /** The limits in words. */
  words: string;
}

/**
 * An isolate has 128 MB, and the solver needs a large part of it. Decoding takes up to nine bytes per pixel, so these
 * limits keep a picture and everything that is made from it below 65 MiB (decision 13).
 */
export const pictureLimits: Record<PictureKind, PictureLimits> = {
  logo: { maxBytes: 2 ** 20, maxSide: 1024, maxPixels: 1024 * 1024, words: "1 MiB and 1024 x 1024 pixels" },
  background: {
    maxBytes: 5 * 2 ** 20,
    maxSide: 4096,
    maxPixels: 2560 * 1600,
    words: "5 MiB and 4.1 megapixels (2560 x 1600), with 4096 pixels on a side",
  },
};

/** Limits how many pictures are decoded at the same time, because each one takes up to 65 MiB for a moment. */
const decoding = new FairTurns({
  atOnce: 1,
  waiting: 16,
  waitingPerKey: 4,
  maxWaitMs: 10_000,
  maxTurnMs: 10_000,
  message: "Too many pictures are being read at the moment. Wait a few seconds, then try again.",
});

const logoSide = 128;
/** GET …/background always answers with a thumbnail of this size (compatibility.md, "Pictures"). */
const thumbnailSide = 100;

/** An appliance's own logo, or the thumbnail of its own background. If it has none, the service's default. */
export async function getPicture(
  env: Pick<Env, "BLOBS">,
  appliance: Pick<Appliance, "logoBlob" | "backgroundBlob">,
  kind: PictureKind,
): Promise<ShownPicture> {
  const blobId = kind === "logo" ? appliance.logoBlob : appliance.backgroundBlob;
  if (blobId === null) return (defaults[kind] ??= shownFromMemory(encodePng(drawDefault[kind]())));
  const key = shownKey(kind, blobId);
  const found = await env.BLOBS.head(key);
  if (!found) throw new Error(`the picture ${key} is gone`);
  return { size: found.size, etag: found.httpEtag, read: (range) => env.BLOBS.get(key, { range }) };
}

/** Checks a PNG and stores it as the appliance's logo or background. */
export async function replacePicture(
  { env, db }: Services<Pick<Env, "BLOBS" | "ACCOUNT_QUOTA_GB">>,
  appliance: { id: number; accountId: number },
  { kind, png }: { kind: PictureKind; png: Uint8Array },
): Promise<void> {
  const files = await decoding.take(appliance.accountId, async () => {
    const picture = await checkPicture(kind, png);
    return { original: png, thumbnail: kind === "background" ? await thumbnailOf(picture) : undefined };
  });
  const blobId = crypto.randomUUID();
  const bytes = files.original.byteLength + (files.thumbnail?.byteLength ?? 0);
  const writer = { ...appliance, quotaBytes: await quotaBytes({ env, db }, appliance.accountId) };
  await putPicture(env.BLOBS, blobId, files);
  if (await savePicture(db, writer, { kind, blobId, bytes })) return;
  await removePicture(env.BLOBS, blobId);
  if (await findAppliance(db, appliance.accountId, appliance.id)) throw quotaExceeded();
  throw new Refusal("invalid_appliance_id", { reason: "unknown" });
}

export const dropPicture = (
  { db }: Pick<Services, "db">,
  appliance: { id: number; accountId: number },
  kind: PictureKind,
): Promise<void> => clearPicture(db, appliance, kind);

export const pictureTooLarge = (kind: PictureKind) =>
  new Refusal("invalid_value", {
    message: `The ${kind} is too large: the limit is ${pictureLimits[kind].words}.`,
  });

/** Decodes a picture. Checks its dimensions first, so that a few bytes that claim a billion pixels cost no work. */
async function checkPicture(kind: PictureKind, png: Uint8Array): Promise<Picture> {
  const { maxBytes, maxSide, maxPixels } = pictureLimits[kind];
  if (png.byteLength > maxBytes) throw pictureTooLarge(kind);
  try {
    const { width, height, bits, essence } = outlinePng(png);
    const pixels = width * height * (bits > 8 ? 2 : 1);
    if (Math.max(width, height) > maxSide || pixels > maxPixels) throw pictureTooLarge(kind);
    await rest();
    return decodePng(essence);
  } catch (error) {
    if (!(error instanceof PictureFault)) throw error;
    throw new Refusal("invalid_value", { message: `The ${kind} ${error.message}. Send a PNG.` });
  }
}

const thumbnailOf = async (picture: Picture): Promise<Uint8Array> => encodePng(await thumbnail(picture, thumbnailSide));

const drawDefault: Record<PictureKind, () => Picture> = {
  logo: () => drawLogo(logoSide),
  background: () => drawBackground(thumbnailSide),
};

/** The default pictures, drawn once per isolate. */
const defaults: Partial<Record<PictureKind, ShownPicture>> = {};

const shownFromMemory = (png: Uint8Array): ShownPicture => ({
  size: png.byteLength,
  etag: `"${createHash("md5").update(png).digest("hex")}"`,
  read: async ({ offset, length }) => ({ body: new Blob([png.slice(offset, offset + length)]).stream() }),
});
