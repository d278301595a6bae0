import { createHash } from "node:crypto";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DiskRoom } from "../../src/disk-room.ts";
import { openImageCache } from "../../src/image-cache.ts";
import { getImage } from "../../src/testdrive/image.ts";
import { eventually, silent, temporaryDir } from "../support/agent-place.ts";
import { smallDisk } from "../support/small-disk.ts";
import { sessionToken, startFakeService } from "./fake-service.ts";

const medium = Buffer.alloc(100_000, 7);

async function makePlace({ stateDir, content = medium }: { stateDir?: string; content?: Buffer } = {}) {
  const dir = await temporaryDir();
  const service = await startFakeService();
  service.image = content;
  const place = stateDir ?? dir.path;
  const path = join(place, "cache");
  const cache = await openImageCache(path, 1e9);
  const room = new DiskRoom({ config: { stateDir: place, minFreeGb: 0 }, caches: [cache], log: silent });
  const image = {
    fileName: "a.iso",
    size: content.length,
    rawSize: content.length,
    compressed: false,
    sha256: createHash("sha256").update(content).digest("hex"),
  };
  const claim = {
    testdriveId: 1,
    token: sessionToken,
    password: "p",
    buildId: 7,
    imageType: "iso",
    memoryMb: 64,
    image,
  } as const;
  const ask = (signal = new AbortController().signal) => {
    const messages: string[] = [];
    const onMessage = (message: string) => void messages.push(message);
    return { messages, image: getImage(claim, { api: service.api, cache, room, signal, onMessage }) };
  };
  return {
    service,
    cache,
    ask,
    /** Returns a function that allows the downloads to start. */
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      service.held = promise;
      return resolve;
    },
    /** All requests have checked the cache. Those that found nothing wait for the image. */
    looked: () => cache.idle(),
    incoming: () => readdirSync(path).filter((name) => name.startsWith("incoming")),
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]();
      await dir[Symbol.asyncDispose]();
    },
  };
}

describe("simultaneous sessions of one image", () => {
  it("share one download, and each gets its progress", async () => {
    await using place = await makePlace();
    const letGo = place.hold();

    const asked = [place.ask(), place.ask(), place.ask()];
    await place.looked();
    letGo();
    const [first, ...others] = await Promise.all(asked.map(({ image }) => image));

    expect(place.service.ranges).toEqual([0]);
    expect(new Set(others.map(({ path }) => path))).toEqual(new Set([first?.path]));
    for (const { messages } of asked) expect(messages).toContain("Fetching the image (100 %)");
  });

  it("continue when one of them ends", async () => {
    await using place = await makePlace();
    const letGo = place.hold();
    const leaving = new AbortController();
    const asked = [place.ask(leaving.signal), place.ask()] as const;
    await place.looked();
    await eventually("the download", () => place.service.ranges.length > 0);

    leaving.abort(new Error("The session is over."));

    await expect(asked[0].image).rejects.toThrow("The session is over.");
    letGo();
    expect(existsSync((await asked[1].image).path)).toBe(true);
    expect(place.service.ranges).toEqual([0]);
  });

  it("leave nothing when all of them end", async () => {
    await using place = await makePlace();
    Object.assign(place.service, { cutAfter: 40_000, stalls: true });
    const leaving = new AbortController();
    const asked = [place.ask(leaving.signal), place.ask(leaving.signal)];
    await eventually("the first part", () => place.incoming().length === 1);

    leaving.abort(new Error("The session is over."));

    const ends = await Promise.allSettled(asked.map(({ image }) => image));
    expect(ends.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await eventually("nothing is left", () => place.incoming().length === 0);
    Object.assign(place.service, { cutAfter: Infinity, stalls: false });
    expect(existsSync((await place.ask().image).path)).toBe(true);
  });

  it("all get the error, and the next one tries again", async () => {
    await using place = await makePlace();
    place.service.image = Buffer.alloc(medium.length);
    const ends = await Promise.allSettled([place.ask().image, place.ask().image]);
    for (const end of ends) expect(end).toMatchObject({ reason: { message: expect.stringContaining("SHA-256") } });
    place.service.image = medium;

    expect(existsSync((await place.ask().image).path)).toBe(true);
  });
});

async function putImage({ cache }: Awaited<ReturnType<typeof makePlace>>, disk: { stateDir: string }) {
  const file = join(disk.stateDir, "earlier");
  writeFileSync(file, Buffer.alloc(20e6));
  return await cache.put(6, "6".repeat(64), file, "raw");
}

describe("an image that does not fit on the disk", () => {
  it("replaces images that are not used", async () => {
    await using disk = await smallDisk();
    await using place = await makePlace({ stateDir: disk.stateDir, content: Buffer.alloc(10e6, 7) });
    (await putImage(place, disk)).release();
    disk.fill(46);
    expect(existsSync((await place.ask().image).path)).toBe(true);
    expect(await place.cache.find(6, "6".repeat(64))).toBeUndefined();
  });

  it("is refused if all images are used", async () => {
    await using disk = await smallDisk();
    await using place = await makePlace({ stateDir: disk.stateDir, content: Buffer.alloc(10e6, 7) });
    using held = await putImage(place, disk);
    disk.fill(46);
    await expect(place.ask().image).rejects.toThrow(/^The builder agent has 0\.0 GiB of free disk space/);
    expect(existsSync(held.path)).toBe(true);
  });
});
