import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { DiskRoom, freeBytes, type Stoppable } from "../src/disk-room.ts";
import { openImageCache } from "../src/image-cache.ts";
import { eventually, silent } from "./support/agent-place.ts";
import { smallDisk } from "./support/small-disk.ts";

async function openRoom(stateDir: string, minFreeGb: number) {
  const said: string[] = [];
  const cache = await openImageCache(join(stateDir, "cache"), 1e9);
  const room = new DiskRoom({
    config: { stateDir, minFreeGb },
    caches: [undefined, cache],
    log: (event) => void said.push(event),
  });
  return { room, cache, said };
}

describe("room for a build", () => {
  it("exists while the reserve is free, and changes are reported", async () => {
    await using disk = await smallDisk();
    const { room, said } = await openRoom(disk.stateDir, 0.02);

    expect(await room.isEnough(0)).toBe(true);
    disk.fill(56);
    expect(await room.isEnough(0)).toBe(false);
    expect(await room.isEnough(0)).toBe(false);
    disk.empty();
    expect(await room.isEnough(0)).toBe(true);

    expect(said).toEqual(["no room for builds", "room for builds again"]);
  });

  it("requires the reserve once more for each running build", async () => {
    await using disk = await smallDisk();
    const { room } = await openRoom(disk.stateDir, 0.02);

    expect(await room.isEnough(1)).toBe(true);
    expect(await room.isEnough(3)).toBe(false);
  });

  it("is made by deleting unused images", async () => {
    await using disk = await smallDisk();
    const { room, cache } = await openRoom(disk.stateDir, 0.04);
    const keep = async (buildId: number) => {
      const file = join(disk.stateDir, `image-${buildId}`);
      writeFileSync(file, Buffer.alloc(20e6));
      return await cache.put(buildId, String(buildId).repeat(64), file, "raw");
    };
    (await keep(1)).release();
    using held = await keep(2);
    expect(await freeBytes(disk.stateDir)).toBeLessThan(40e6);

    expect(await room.isEnough(0)).toBe(true);

    expect(await cache.find(1, "1".repeat(64))).toBeUndefined();
    expect(await cache.find(2, held.path.slice(-68, -4))).toBeDefined();
  });
});

/** A build that holds the ballast file until it is stopped. */
function startBuild(disk: Awaited<ReturnType<typeof smallDisk>>) {
  const ended = Promise.withResolvers<void>();
  const stops: string[] = [];
  const stop = (reason: string) => {
    stops.push(reason);
    disk.empty();
    ended.resolve();
  };
  return { stops, build: { stop, done: ended.promise } satisfies Stoppable };
}

describe("the disk reserve", () => {
  it("stops only the newest build, if that frees enough", async () => {
    await using disk = await smallDisk();
    const { room } = await openRoom(disk.stateDir, 0.05);
    const [older, newer] = [startBuild(disk), startBuild(disk)];
    const running = [older.build, newer.build];
    void newer.build.done.then(() => running.pop());
    const over = new AbortController();

    let checks = 0;

    const watching = room.keepFloor(() => (checks++, running.at(-1)), over.signal);
    disk.fill(60);
    await eventually("the newer build is stopped", () => newer.stops.length > 0);
    const before = checks;
    await eventually("the disk is checked again", () => checks > before + 1);
    over.abort();
    await watching;

    expect(newer.stops).toEqual(["no_room"]);
    expect(older.stops).toEqual([]);
  });

  it("is still watched after the disk could not be checked", async () => {
    await using disk = await smallDisk();
    const said: string[] = [];
    const config = { stateDir: join(disk.stateDir, "not-there"), minFreeGb: 1 };
    const room = new DiskRoom({ config, caches: [], log: (event) => void said.push(event) });
    const over = new AbortController();

    const watching = room.keepFloor(() => ({ stop: silent, done: Promise.resolve() }), over.signal);
    await eventually("it has complained twice", () => said.length >= 2);
    over.abort();
    await watching;

    expect(new Set(said)).toEqual(new Set(["could not check the disk"]));
  });
});
