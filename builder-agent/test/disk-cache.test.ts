import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, linkSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { DiskCache, diskUse, fileSize, type CacheLayout } from "../src/disk-cache.ts";
import { temporaryDir } from "./support/agent-place.ts";

let dir: string;
beforeEach(async () => {
  const temporary = await temporaryDir();
  onTestFinished(() => temporary[Symbol.asyncDispose]());
  dir = join(temporary.path, "cache");
});

const at = (name: string) => join(dir, name);
const isEntry = (name: string) => name.endsWith(".entry") || name.endsWith(".part");
const entries = () => readdirSync(dir).filter(isEntry).toSorted();

const layout = (more: Partial<CacheLayout> = {}): CacheLayout => ({
  dir,
  limits: { maxBytes: 10 },
  list: async () => readdirSync(dir).filter(isEntry).map(at),
  sizeOf: fileSize,
  index: "disk",
  ...more,
});

const parentOf = (path: string) => (path.endsWith(".part") ? path.replace(/part$/, "entry") : undefined);

/** Publishes an entry with this content. */
async function add(cache: DiskCache, name: string, text = "1234"): Promise<void> {
  const incoming = cache.incoming(name);
  writeFileSync(incoming, text);
  await cache.publish(incoming, at(name));
}

const useAt = (name: string, secondsAgo: number) => utimesSync(at(name), 0, Date.now() / 1000 - secondsAgo);

describe.each(["disk", "memory"] as const)("a disk cache with its index in %s", (index) => {
  it("deletes the least recently used entries", async () => {
    const cache = await DiskCache.open(layout({ index }));
    await add(cache, "a.entry");
    await add(cache, "b.entry");
    if (index === "disk") useAt("b.entry", 60);
    await cache.touch(at("a.entry"));
    await add(cache, "c.entry");
    expect(entries()).toEqual(["a.entry", "c.entry"]);
  });

  it("applies its limits to an earlier process's entries", async () => {
    mkdirSync(dir);
    for (const name of ["a.entry", "b.entry", "c.entry"]) writeFileSync(at(name), "1234");
    useAt("b.entry", 60);
    await DiskCache.open(layout({ index }));
    expect(entries()).toEqual(["a.entry", "c.entry"]);
  });

  it("deletes entries that were not used for too long", async () => {
    mkdirSync(dir);
    for (const name of ["a.entry", "b.entry"]) writeFileSync(at(name), "1");
    useAt("a.entry", 61);
    await DiskCache.open(layout({ index, limits: { maxBytes: 10, maxAgeMs: 60_000 } }));
    expect(entries()).toEqual(["b.entry"]);
  });

  it("frees the requested number of bytes", async () => {
    const cache = await DiskCache.open(layout({ index, limits: { maxBytes: 100 } }));
    for (const name of ["a.entry", "b.entry", "c.entry"]) await add(cache, name);
    useAt("a.entry", 30);
    useAt("b.entry", 20);
    await cache.free(5);
    expect(entries()).toEqual(["c.entry"]);
    await cache.free(Infinity);
    expect(entries()).toEqual([]);
  });

  it("keeps an entry until the last of its two users releases it", async () => {
    const cache = await DiskCache.open(layout({ index, limits: { maxBytes: 5 } }));
    await add(cache, "a.entry");
    const first = await cache.find(at("a.entry"));
    const second = await cache.find(at("a.entry"));
    await cache.free(Infinity);
    first?.release();
    first?.release();
    await cache.free(Infinity);
    expect(entries()).toEqual(["a.entry"]);

    second?.release();
    await cache.free(Infinity);
    expect(entries()).toEqual([]);
    expect(await cache.find(at("a.entry"))).toBeUndefined();
  });

  it("returns to its limit when an entry is released", async () => {
    const cache = await DiskCache.open(layout({ index, limits: { maxBytes: 3 } }));
    const lease = cache.lease(at("a.entry"));
    await add(cache, "a.entry");
    expect(entries()).toEqual(["a.entry"]);
    lease.release();
    await cache.idle();
    expect(entries()).toEqual([]);
  });

  it("asks a user to release an entry, if possible, and waits", async () => {
    const cache = await DiskCache.open(layout({ index, limits: { maxBytes: 100 } }));
    await add(cache, "a.entry");
    const gone = Promise.withResolvers<void>();
    let asked = 0;
    cache.lease(at("a.entry"), () => {
      asked++;
      return gone.promise;
    });
    const freed = cache.free(1).then(() => "freed");
    await cache.idle();
    expect([asked, entries()]).toEqual([1, ["a.entry"]]);
    await cache.remove(at("a.entry"));
    gone.resolve();
    expect(await freed).toBe("freed");
  });

  it("replaces an entry, even a directory", async () => {
    const cache = await DiskCache.open(layout({ index, sizeOf: diskUse, limits: { maxBytes: 1e6 } }));
    for (const text of ["first", "second"]) {
      const incoming = cache.incoming("a");
      mkdirSync(incoming);
      writeFileSync(join(incoming, "file"), text);
      await cache.publish(incoming, at("a.entry"));
    }
    expect(readFileSync(join(dir, "a.entry/file"), "utf8")).toBe("second");
  });

  it("leaves nothing behind when the same file is published again", async () => {
    const cache = await DiskCache.open(layout({ index }));
    await add(cache, "a.entry");
    const incoming = cache.incoming("a.entry");
    linkSync(at("a.entry"), incoming);
    await cache.publish(incoming, at("a.entry"));
    expect(readdirSync(dir)).toEqual(["a.entry"]);
  });

  it("deletes an entry with its parent, or without one", async () => {
    const cache = await DiskCache.open(layout({ index, parentOf }));
    for (const name of ["a.entry", "a.part"]) await add(cache, name);
    await add(cache, "b.entry");
    expect(entries()).toEqual(["b.entry"]);

    await add(cache, "b.part");
    rmSync(at("b.entry"));
    await DiskCache.open(layout({ index, parentOf }));
    expect(entries()).toEqual([]);
  });

  it("contains no entry of a process killed before the rename", async () => {
    const program = `
      import { writeFileSync } from "node:fs";
      import { DiskCache } from ${JSON.stringify(join(import.meta.dirname, "../src/disk-cache.ts"))};
      const cache = new DiskCache({ dir: process.argv[1] });
      writeFileSync(cache.incoming("a.entry"), "half");
      console.log("written");
      setInterval(() => {}, 1_000);`;
    mkdirSync(dir);
    const child = spawn(process.execPath, ["--input-type=module", "--eval", program, dir]);
    await once(child.stdout, "data");
    child.kill("SIGKILL");
    await once(child, "close");
    expect(readdirSync(dir)).toHaveLength(1);

    const cache = await DiskCache.open(layout({ index }));

    expect(readdirSync(dir)).toEqual([]);
    expect(await cache.find(at("a.entry"))).toBeUndefined();
  });
});

describe("a disk cache with its index on disk", () => {
  it("notices entries that others have changed or deleted", async () => {
    const cache = await DiskCache.open(layout());
    await add(cache, "a.entry");
    await add(cache, "b.entry");
    rmSync(at("b.entry"));
    await add(cache, "c.entry");
    expect(entries()).toEqual(["a.entry", "c.entry"]);
    rmSync(dir, { recursive: true });
    mkdirSync(dir);
    await cache.evict();
    expect(existsSync(at("a.entry"))).toBe(false);
  });
});
