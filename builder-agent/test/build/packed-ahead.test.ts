import { mkdirSync, readFileSync, renameSync, rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { writeFileStore } from "../../src/build/file-store.ts";
import { PackedAhead } from "../../src/build/packed-ahead.ts";
import { treeAt, type Found } from "../../src/build/root-walk.ts";
import { temporaryDir } from "../support/agent-place.ts";

const big = Buffer.alloc(3_000_000, "a large file ");

/** A root whose files are older than a moment. */
async function settledRoot(dir: string): Promise<string> {
  const root = join(dir, "root");
  mkdirSync(join(root, "etc"), { recursive: true });
  for (const name of ["kept", "changed", "replaced", "gone"]) writeFileSync(join(root, "etc", name), `content ${name}`);
  writeFileSync(join(root, "etc/empty"), "");
  writeFileSync(join(root, "big"), big);
  writeFileSync(join(root, "twin"), big);
  await sleep(700);
  return root;
}

const asList = async (entries: AsyncIterable<Found>) => {
  const found: Found[] = [];
  for await (const entry of entries) found.push(entry);
  return found;
};

/** Lets it come to the end of the root. */
async function packWhole(root: string, dir: string): Promise<PackedAhead> {
  const done = Promise.withResolvers<void>();
  async function* entries() {
    yield* await asList(treeAt(root).entries());
    done.resolve();
  }
  const ahead = new PackedAhead(entries(), dir);
  await done.promise;
  await ahead.end();
  return ahead;
}

async function storeBytes(root: string, dir: string, name: string, ahead?: PackedAhead): Promise<Buffer[]> {
  mkdirSync(join(dir, name));
  const { files, index } = await writeFileStore(treeAt(root, ahead), {
    dir: join(dir, name),
    signal: new AbortController().signal,
  });
  return [readFileSync(files.path), readFileSync(index.path)];
}

describe("contents compressed ahead", () => {
  it("give the very same file store, whatever has happened to the root since", async () => {
    await using dir = await temporaryDir();
    const root = await settledRoot(dir.path);
    const ahead = await packWhole(root, dir.path);
    const at = (name: string) => join(root, "etc", name);
    const { atime, mtime } = statSync(at("changed"));
    writeFileSync(at("changed"), "CONTENT changed"); // the same size, and the time set back
    utimesSync(at("changed"), atime, mtime);
    writeFileSync(at("new"), "another one");
    renameSync(at("new"), at("replaced"));
    rmSync(at("gone"));

    const plain = await storeBytes(root, dir.path, "plain");

    expect(await storeBytes(root, dir.path, "ahead", ahead)).toEqual(plain);
    expect(await ahead.find(at("kept"))).toMatchObject({ size: "content kept".length });
    expect(await ahead.find(join(root, "twin"))).toMatchObject({ size: big.length });
    expect(await ahead.find(at("changed"))).toBeUndefined();
    expect(await ahead.find(at("replaced"))).toBeUndefined();
  });

  it("are copied, not made again", async () => {
    await using dir = await temporaryDir();
    const root = await settledRoot(dir.path);
    const ahead = await packWhole(root, dir.path);
    const before = await storeBytes(root, dir.path, "before", ahead);

    writeFileSync(join(dir.path, "ahead.zst"), Buffer.alloc(statSync(join(dir.path, "ahead.zst")).size, "x"));

    const [files] = await storeBytes(root, dir.path, "after", ahead);
    expect(files?.length).toBe(before[0]?.length);
    expect(files?.toString()).toContain("x".repeat(30));
  });

  it("are not kept of files that were changed a moment ago: nothing would show another change", async () => {
    await using dir = await temporaryDir();
    const root = await settledRoot(dir.path);
    for (const name of ["big", "twin"]) rmSync(join(root, name)); // reading them takes more than a moment
    writeFileSync(join(root, "etc/kept"), "content kept");

    const ahead = await packWhole(root, dir.path);

    expect(await ahead.find(join(root, "etc/kept"))).toBeUndefined();
    expect(await ahead.find(join(root, "etc/gone"))).toBeDefined();
  });

  it("are as many as there was time for, and a file that vanishes ends nothing but the work ahead", async () => {
    await using dir = await temporaryDir();
    const root = await settledRoot(dir.path);
    const found = await asList(treeAt(root).entries());
    const vanishes = Promise.withResolvers<void>();
    async function* entries() {
      for (const entry of found) {
        if (entry.path === "/etc/kept") rmSync(entry.place);
        yield entry;
      }
      vanishes.reject(new Error("it went on"));
    }

    const ahead = new PackedAhead(entries(), dir.path);
    await Promise.race([vanishes.promise, sleep(300)]);
    await ahead.end();

    expect(await ahead.find(join(root, "big"))).toBeDefined();
    expect(await storeBytes(root, dir.path, "ahead", ahead)).toEqual(await storeBytes(root, dir.path, "plain"));
  });
});
