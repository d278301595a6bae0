import { createHash } from "node:crypto";
import {
  existsSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { Log } from "../../src/log.ts";
import { openConfiguredPackageCache, PackageCache } from "../../src/packages/package-cache.ts";
import { silent, temporaryDir } from "../support/agent-place.ts";

const never = new AbortController().signal;
const mirror = "http://mirror.example.org/linux";

let dir: string;
beforeEach(async () => {
  const temporary = await temporaryDir();
  onTestFinished(() => temporary[Symbol.asyncDispose]());
  dir = temporary.path;
});

const open = (maxBytes = 1e6, log: Log = silent) => PackageCache.open(join(dir, "packages"), maxBytes, log);

const checksumOf = (text: string) => ({
  type: "sha256" as const,
  value: createHash("sha256").update(text).digest("hex"),
});

let copies = 0;
/** Takes a package with this content. Returns whether it was downloaded. */
async function take(cache: PackageCache, text: string, more: { repository?: string; signal?: AbortSignal } = {}) {
  const into = join(dir, `build-${++copies}.rpm`);
  let downloaded = false;
  const download = async () => {
    downloaded = true;
    await writeFile(into, text);
  };
  const { repository = mirror, signal = never } = more;
  await cache.take({ repository, checksum: checksumOf(text), into }, download, signal);
  expect(readFileSync(into, "utf8")).toBe(text);
  return { downloaded, into };
}

const keptFiles = () =>
  readdirSync(join(dir, "packages"), { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));

const only = () => keptFiles()[0] ?? expect.fail("nothing is stored");

describe("the package cache", () => {
  it("gives a package to the next build, and to the next agent", async () => {
    const cache = await open();
    expect((await take(cache, "one")).downloaded).toBe(true);
    expect((await take(cache, "one")).downloaded).toBe(false);
    expect((await take(await open(), "one")).downloaded).toBe(false);
    expect(only()).toMatch(new RegExp(`/[0-9a-f]{32}/sha256/${checksumOf("one").value.slice(0, 2)}/[0-9a-f]{64}$`));
  });

  it("gives a copy, so that builds cannot change the original", async () => {
    const cache = await open();
    const { into } = await take(cache, "one");
    const second = await take(cache, "one");
    writeFileSync(into, "two");
    writeFileSync(second.into, "two");
    expect((await take(cache, "one")).downloaded).toBe(false);
    expect(statSync(only()).nlink).toBe(1);
  });

  it("does not share packages between repositories, even by checksum", async () => {
    const cache = await open();
    await take(cache, "private", { repository: "service:/user/7" });
    expect((await take(cache, "private", { repository: "http://evil.example.org" })).downloaded).toBe(true);
  });

  it.each([
    ["changed", (path: string) => writeFileSync(path, "two")],
    ["cut short", (path: string) => writeFileSync(path, "")],
    ["missing", (path: string) => unlinkSync(path)],
    [
      "a link to the same content",
      (path: string) => {
        writeFileSync(join(dir, "elsewhere"), "one");
        unlinkSync(path);
        symlinkSync(join(dir, "elsewhere"), path);
      },
    ],
  ])("downloads again what is %s", async (_, change) => {
    const cache = await open();
    await take(cache, "one");
    change(only());
    expect((await take(cache, "one")).downloaded).toBe(true);
    expect(readFileSync(only(), "utf8")).toBe("one");
    expect((await take(cache, "one")).downloaded).toBe(false);
  });

  it("lets simultaneous builds share one download", async () => {
    const cache = await open();
    let downloads = 0;
    const takes = Array.from({ length: 5 }, async (_, index) => {
      const into = join(dir, `at-once-${index}`);
      const download = async () => {
        downloads++;
        await new Promise((resolve) => setTimeout(resolve, 20));
        await writeFile(into, "one");
      };
      await cache.take({ repository: mirror, checksum: checksumOf("one"), into }, download, never);
      return readFileSync(into, "utf8");
    });
    expect(await Promise.all(takes)).toEqual(Array.from({ length: 5 }, () => "one"));
    expect(downloads).toBe(1);
  });

  it("downloads itself when another build's download fails", async () => {
    const cache = await open();
    const [failing, begun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const wanted = { repository: mirror, checksum: checksumOf("one"), into: join(dir, "failing") };
    const download = () => (begun.resolve(), failing.promise);
    const first = cache.take(wanted, download, never);
    await begun.promise; // otherwise the second one may be the one that downloads
    const second = take(cache, "one");
    setTimeout(() => failing.reject(new Error("the other was cancelled")), 20);
    await expect(first).rejects.toThrow("the other was cancelled");
    expect((await second).downloaded).toBe(true);
  });

  it("does not let a cancelled build wait for another's download", async () => {
    const cache = await open();
    const [slow, begun] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const cancelled = new AbortController();
    const wanted = { repository: mirror, checksum: checksumOf("one"), into: join(dir, "slow") };
    const download = () => (begun.resolve(), slow.promise);
    const first = cache.take(wanted, download, never);
    await begun.promise;
    const second = take(cache, "one", { signal: cancelled.signal });
    setTimeout(() => cancelled.abort(new Error("cancelled")), 20);
    await expect(second).rejects.toThrow("cancelled");
    await writeFile(wanted.into, "one");
    slow.resolve();
    await first;
  });

  it("keeps to its limit, and evicts the least recently used", async () => {
    const cache = await open(10);
    for (const text of ["aaaa", "bbbb"]) await take(cache, text);
    expect((await take(cache, "aaaa")).downloaded).toBe(false);
    await take(cache, "cccc");
    expect((await take(cache, "aaaa")).downloaded).toBe(false);
    expect((await take(cache, "bbbb")).downloaded).toBe(true);
    await take(cache, "longer than ten bytes");
    expect(keptFiles()).toHaveLength(2);
  });

  it("remembers recent use after a restart, and accepts a smaller limit", async () => {
    const cache = await open();
    for (const text of ["aaaa", "bbbb", "cccc"]) await take(cache, text);
    for (const path of keptFiles()) {
      const isFirst = readFileSync(path, "utf8") === "aaaa";
      utimesSync(path, 0, isFirst ? 2000 : 1000);
    }
    const smaller = await open(4);
    expect(keptFiles()).toHaveLength(1);
    expect((await take(smaller, "aaaa")).downloaded).toBe(false);
  });

  it("frees what the disk needs", async () => {
    const cache = await open();
    for (const text of ["aaaa", "bbbb", "cccc"]) await take(cache, text);
    await cache.free(5);
    expect(keptFiles().map((path) => readFileSync(path, "utf8"))).toEqual(["cccc"]);
    await cache.free(1e12);
    expect(keptFiles()).toEqual([]);
  });

  it("deletes what a killed agent left incomplete", async () => {
    await open();
    writeFileSync(join(dir, "packages/incoming-1-package"), "ha");
    await open();
    expect(keptFiles()).toEqual([]);
  });

  it("fails no build whose package cannot be stored", async () => {
    const said: string[] = [];
    const cache = await open(1e6, (event) => void said.push(event));
    const { repository, checksum } = { repository: mirror, checksum: checksumOf("one") };
    await cache.take({ repository, checksum, into: join(dir, "nowhere") }, async () => {}, never);
    expect(said).toEqual(["could not cache a package"]);
    expect(keptFiles()).toEqual([]);
  });

  it("is deleted if the operator gives it no room", async () => {
    await take(await open(), "one");
    expect(await openConfiguredPackageCache({ stateDir: dir, packageCacheGb: 0 }, silent)).toBeUndefined();
    expect(existsSync(join(dir, "packages"))).toBe(false);
    expect(await openConfiguredPackageCache({ stateDir: dir, packageCacheGb: 1 }, silent)).toBeDefined();
  });
});
