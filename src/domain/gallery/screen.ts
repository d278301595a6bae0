import { maxScreenBytes } from "#lib/contract/index";
import { getOwnForGallery } from "#domain/gallery/access";
import type { ShownPicture } from "#domain/contents/picture";
import type { Services } from "#domain/services";
import { outlinePng, PictureFault } from "#lib/picture/png";
import type { Account } from "#storage/accounts";
import { contentKey } from "#storage/blobs";
import { findAnyBuild } from "#storage/builds";
import type { Database } from "#storage/db";
import type { Publication } from "#storage/publications";
import { clearScreen, findWithoutScreen, putScreen, saveScreen } from "#storage/screens";

/*
 * The gallery shows the screen of a booted image. An agent takes the screenshot in a separate boot, which no viewer can
 * reach, so it shows nothing that a user has typed. Only published versions have a screen (decision 19).
 */

const maxSide = 2560;

type Wanting = Parameters<typeof findWithoutScreen>[1];

/** Whether an agent that boots this image should also send a screenshot. */
export const wantsScreen = async (db: Database, build: Wanting): Promise<boolean> =>
  (await findWithoutScreen(db, build)) !== undefined;

/** Stores a screenshot from an agent. Returns false if it cannot be shown, or if none is needed any longer. */
export async function keepScreen(
  { env, db }: Services<Pick<Env, "BLOBS">>,
  { buildId, png }: { buildId: number; png: Uint8Array },
): Promise<boolean> {
  const shown = shownOf(png);
  const build = await findAnyBuild(db, buildId);
  const publicationId = build && (await findWithoutScreen(db, build));
  if (!shown || publicationId === undefined) return false;
  const blobId = crypto.randomUUID();
  await putScreen(env.BLOBS, blobId, shown);
  if (await saveScreen(db, publicationId, blobId)) return true;
  await env.BLOBS.delete(contentKey(blobId));
  return false;
}

/** The image without its metadata comments. Undefined if it is damaged or too large. */
export function shownOf(png: Uint8Array): Uint8Array | undefined {
  if (png.byteLength > maxScreenBytes) return undefined;
  try {
    const { width, height, essence } = outlinePng(png);
    return Math.max(width, height) <= maxSide ? essence : undefined;
  } catch (error) {
    if (error instanceof PictureFault) return undefined;
    throw error;
  }
}

/** The screenshot of a published version. Undefined if it has none. */
export async function getScreen(
  { BLOBS: blobs }: Pick<Env, "BLOBS">,
  { screenBlob }: Pick<Publication, "screenBlob">,
): Promise<ShownPicture | undefined> {
  if (screenBlob === null) return undefined;
  const key = contentKey(screenBlob);
  const found = await blobs.head(key);
  if (!found) throw new Error(`the picture ${key} is gone`);
  return { size: found.size, etag: found.httpEtag, read: (range) => blobs.get(key, { range }) };
}

/** Removes the screenshot, for the publisher. The version does not get another one. */
export async function removeScreen(
  db: Database,
  account: Pick<Account, "id">,
  which: { applianceId: number; version: string },
): Promise<void> {
  await getOwnForGallery(db, account.id, which.applianceId);
  await clearScreen(db, which);
}
