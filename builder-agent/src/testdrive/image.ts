import { rm } from "node:fs/promises";
import { imageFormats, type TestdriveClaim } from "../contract.ts";
import type { DiskRoom } from "../disk-room.ts";
import type { CachedImage, ImageCache } from "../image-cache.ts";
import { leaseOfTestdrive, type Lease } from "../lease.ts";
import type { WorkerApi } from "../worker-api.ts";
import { download } from "./download.ts";
import { SharedWork, type Waiter } from "./shared-work.ts";
import { unpackDisk } from "./unpack.ts";

export interface ImageSource {
  api: Pick<WorkerApi, "readImage">;
  cache: ImageCache;
  /** The free space of the disk with the cache. */
  room: Pick<DiskRoom, "freed">;
  signal: AbortSignal;
  /** Called with a line for users. */
  onMessage: (message: string) => void;
}

/**
 * The build's disk or medium, held in the cache. If it is not cached, it is downloaded, verified and unpacked, once for
 * all sessions that wait for it.
 */
export async function getImage(claim: TestdriveClaim, source: ImageSource): Promise<CachedImage> {
  const { buildId, image } = claim;
  const find = () => source.cache.find(buildId, image.sha256);
  const found = await find();
  if (found) return found;
  const waiter = { ...source, lease: leaseOfTestdrive(claim) };
  return await fetchesInto(source.cache).share(
    `${buildId}/${image.sha256}`,
    waiter,
    async ({ waiters, ...all }) => {
      const leases = () => Array.from(waiters, ({ lease }) => lease);
      return (await find()) ?? (await fetchImage({ claim, leases }, { ...source, ...all }));
    },
    async () => (await find()) ?? unexpected(),
  );
}

/** A session that waits for an image. */
type Waiting = Waiter & { lease: Lease };

const fetches = new WeakMap<ImageCache, SharedWork<CachedImage, Waiting>>();

function fetchesInto(cache: ImageCache): SharedWork<CachedImage, Waiting> {
  const known = fetches.get(cache) ?? new SharedWork<CachedImage, Waiting>();
  fetches.set(cache, known);
  return known;
}

/** Cannot happen: the image is held until every waiting session has found it. */
function unexpected(): never {
  throw new Error("The image is no longer on the builder agent's disk.");
}

async function fetchImage(
  { claim, leases }: { claim: TestdriveClaim; leases: () => Lease[] },
  source: ImageSource,
): Promise<CachedImage> {
  const { buildId, image } = claim;
  const downloaded = source.cache.incoming(image.fileName);
  const unpacked = source.cache.incoming(`${buildId}.raw`);
  try {
    const { container, alone, plainTar } = imageFormats[claim.imageType];
    // A disk in another container and the raw disk exist at the same time.
    const unpackedSize = image.rawSize * (container?.conversion ? 2 : 1);
    await checkRoom(source, image.compressed ? image.size + unpackedSize : image.size);
    await download(downloaded, { claim, leases, ...source, onProgress: telling(image.size, source.onMessage) });
    if (!image.compressed || !container) return await source.cache.put(buildId, image.sha256, downloaded, "iso");
    source.onMessage("Unpacking the image");
    const isPlain = plainTar !== undefined;
    const { rawSize } = image;
    await unpackDisk(downloaded, unpacked, { rawSize, container, alone, isPlain, signal: source.signal });
    return await source.cache.put(buildId, image.sha256, unpacked, "raw");
  } finally {
    await Promise.all([downloaded, unpacked].map((path) => rm(path, { force: true })));
  }
}

async function checkRoom({ room }: ImageSource, neededBytes: number): Promise<void> {
  const free = await room.freed(neededBytes);
  if (free < neededBytes)
    throw new Error(`The builder agent has ${gib(free)} of free disk space, but the image needs ${gib(neededBytes)}.`);
}

const gib = (bytes: number) => `${(bytes / 1024 ** 3).toFixed(1)} GiB`;

/** Reports each new percent. A message for each chunk would be too many. */
function telling(size: number, onMessage: (message: string) => void): (received: number) => void {
  let reported = -1;
  return (received) => {
    const percent = Math.floor((received / size) * 100);
    if (percent === reported) return;
    reported = percent;
    onMessage(`Fetching the image (${percent} %)`);
  };
}
