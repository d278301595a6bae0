import { existsSync, mkdirSync, readdirSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openImageCache, type CachedImage, type ImageCache } from "../src/image-cache.ts";
import { temporaryDir } from "./support/agent-place.ts";

const sha = (letter: string) => letter.repeat(64);
const imageBytes = 1024 * 1024;

/** An image in the cache that was last used this many seconds ago. */
async function put(dir: string, cache: ImageCache, buildId: number, secondsAgo: number) {
  const file = join(dir, `new-${buildId}`);
  writeFileSync(file, Buffer.alloc(imageBytes, buildId));
  const image = await cache.put(buildId, sha("a"), file, "raw");
  const usedAt = Date.now() / 1000 - secondsAgo;
  utimesSync(image.path, usedAt, usedAt);
  return image;
}

async function putSnapshot(dir: string, cache: ImageCache, image: CachedImage): Promise<void> {
  mkdirSync(join(dir, "snapshot"));
  writeFileSync(join(dir, "snapshot", "state"), Buffer.alloc(imageBytes, 1));
  await cache.putSnapshot(image, "abc", join(dir, "snapshot"));
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

  it("keeps images across its own restart, not across the host's", async () => {
    await using dir = await temporaryDir();
    const place = join(dir.path, "cache");
    const open = () => openImageCache(place, 10 * imageBytes);
    (await put(dir.path, await open(), 1, 0)).release();
    expect(await (await open()).find(1, sha("a"))).toBeDefined();

    writeFileSync(join(place, "boot-id"), "00000000-0000-0000-0000-000000000000\n");

    expect(await (await open()).find(1, sha("a"))).toBeUndefined();
    (await put(dir.path, await open(), 1, 0)).release();
    expect(await (await open()).find(1, sha("a"))).toBeDefined();
  });

  it("evicts the least recently used image first", async () => {
    await using dir = await temporaryDir();
    const cache = await openImageCache(join(dir.path, "cache"), 2.5 * imageBytes);
    const old = await put(dir.path, cache, 1, 300);
    const older = await put(dir.path, cache, 2, 600);
    old.release();
    older.release();

    (await put(dir.path, cache, 3, 0)).release();

    expect([existsSync(old.path), existsSync(older.path)]).toEqual([true, false]);
  });

  it("removes the directory of a build without images", async () => {
    await using dir = await temporaryDir();
    const place = join(dir.path, "cache");
    const cache = await openImageCache(place, 1.5 * imageBytes);
    const image = await put(dir.path, cache, 1, 600);
    await putSnapshot(dir.path, cache, image);
    image.release();

    (await put(dir.path, cache, 2, 0)).release();
    await cache.idle();

    expect(readdirSync(place).toSorted()).toEqual(["2", "boot-id"]);
    (await put(dir.path, cache, 1, 0)).release();
    await cache.idle();
    expect(readdirSync(place).toSorted()).toEqual(["1", "boot-id"]);
  });

  it("keeps an image while it is in use", async () => {
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

  it("returns to its limit as soon as an image is released", async () => {
    await using dir = await temporaryDir();
    const cache = await openImageCache(join(dir.path, "cache"), 0.5 * imageBytes);
    const image = await put(dir.path, cache, 1, 0);
    expect(existsSync(image.path)).toBe(true);

    image.release();
    await cache.idle();

    expect(existsSync(image.path)).toBe(false);
  });

  it("keeps released images while there is room", async () => {
    await using dir = await temporaryDir();
    const cache = await openImageCache(join(dir.path, "cache"), 9 * imageBytes);
    (await put(dir.path, cache, 1, 0)).release();
    await cache.idle();
    const found = await cache.find(1, sha("a"));

    found?.release();
    await cache.idle();

    expect(existsSync(found?.path ?? "")).toBe(true);
  });

  it("returns found images as held, even during a cleanup", async () => {
    await using dir = await temporaryDir();
    const cache = await openImageCache(join(dir.path, "cache"), 10 * imageBytes);
    (await put(dir.path, cache, 1, 0)).release();

    const [, first, , second] = await Promise.all([
      cache.idle(),
      cache.find(1, sha("a")),
      cache.free(10 * imageBytes),
      cache.find(1, sha("a")),
    ]);

    expect(existsSync(first?.path ?? "")).toBe(true);
    expect(second?.path).toBe(first?.path);
  });

  it("counts a snapshot, and deletes it with its image", async () => {
    await using dir = await temporaryDir();
    const cache = await openImageCache(join(dir.path, "cache"), 2.5 * imageBytes);
    const image = await put(dir.path, cache, 1, 600);
    await putSnapshot(dir.path, cache, image);
    const snapshot = await cache.findSnapshot(image, "abc");
    expect(existsSync(snapshot ?? "")).toBe(true);
    image.release();

    (await put(dir.path, cache, 2, 0)).release();

    expect(existsSync(image.path)).toBe(false);
    expect(existsSync(snapshot ?? "")).toBe(false);
  });

  it("deletes a snapshot whose image no longer exists", async () => {
    await using dir = await temporaryDir();
    const cache = await openImageCache(join(dir.path, "cache"), 9 * imageBytes);
    const image = await put(dir.path, cache, 1, 0);
    await putSnapshot(dir.path, cache, image);
    rmSync(image.path);

    const after = await openImageCache(join(dir.path, "cache"), 9 * imageBytes);

    expect(await after.findSnapshot(image, "abc")).toBeUndefined();
  });

  it("deletes what a crash left incomplete", async () => {
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

  it("counts an image's disk usage, not its holes", async () => {
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
