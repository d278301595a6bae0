import { existsSync, mkdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openImageCache } from "../src/image-cache.ts";
import { temporaryDir } from "./support/agent-place.ts";

const sha = (letter: string) => letter.repeat(64);
const imageBytes = 1024 * 1024;

/** An image in the cache that was last used that many seconds ago. */
async function put(
  dir: string,
  cache: Awaited<ReturnType<typeof openImageCache>>,
  buildId: number,
  secondsAgo: number,
) {
  const file = join(dir, `new-${buildId}`);
  writeFileSync(file, Buffer.alloc(imageBytes, buildId));
  const image = await cache.put(buildId, sha("a"), file, "raw");
  const usedAt = Date.now() / 1000 - secondsAgo;
  utimesSync(image.path, usedAt, usedAt);
  return image;
}

describe("the image cache", () => {
  it("finds an image by build and digest only", async () => {
    await using dir = await temporaryDir();
    const cache = await openImageCache(join(dir.path, "cache"), 10 * imageBytes);
    (await put(dir.path, cache, 1, 0)).release();

    using found = await cache.find(1, sha("a"));

    expect(statSync(found?.path ?? "").size).toBe(imageBytes);
    expect(await cache.find(1, sha("b"))).toBeUndefined();
    expect(await cache.find(2, sha("a"))).toBeUndefined();
  });

  it("lets the least recently used go first", async () => {
    await using dir = await temporaryDir();
    const cache = await openImageCache(join(dir.path, "cache"), 2.5 * imageBytes);
    const old = await put(dir.path, cache, 1, 300);
    const older = await put(dir.path, cache, 2, 600);
    old.release();
    older.release();

    (await put(dir.path, cache, 3, 0)).release();

    expect([existsSync(old.path), existsSync(older.path)]).toEqual([true, false]);
  });

  it("keeps what is in use, and lets it go when it is not", async () => {
    await using dir = await temporaryDir();
    const cache = await openImageCache(join(dir.path, "cache"), 0.5 * imageBytes);
    const held = await put(dir.path, cache, 1, 600);
    const again = await cache.find(1, sha("a"));
    held.release();
    held.release();
    (await put(dir.path, cache, 2, 0)).release();
    expect(existsSync(held.path)).toBe(true);

    again?.release();
    (await put(dir.path, cache, 3, 0)).release();

    expect(existsSync(held.path)).toBe(false);
  });

  it("forgets what a crash left half done", async () => {
    await using dir = await temporaryDir();
    const path = join(dir.path, "cache");
    const before = await openImageCache(path, imageBytes);
    const half = before.incoming("image.raw");
    writeFileSync(half, "half");
    mkdirSync(join(path, "7"));
    writeFileSync(join(path, "7", `${sha("c")}.raw.part`), "half");

    const after = await openImageCache(path, imageBytes);

    expect(existsSync(half)).toBe(false);
    expect(await after.find(7, sha("c"))).toBeUndefined();
  });

  it("counts what an image takes on the disk, not its holes", async () => {
    await using dir = await temporaryDir();
    const cache = await openImageCache(join(dir.path, "cache"), 3 * imageBytes);
    const { truncateSync } = await import("node:fs");
    for (const id of [1, 2, 3]) {
      const image = await put(dir.path, cache, id, 0);
      truncateSync(image.path, 100 * imageBytes);
      image.release();
    }

    await openImageCache(join(dir.path, "cache"), 3.5 * imageBytes);

    for (const id of [1, 2, 3]) expect(await cache.find(id, sha("a"))).toBeDefined();
  });
});
