import {
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { gunzipSync, zstdDecompressSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { FileStoreWriter, type FileStore } from "../../src/run/file-store.ts";
import { treeAt, type Found, type RootTree } from "../../src/run/root-walk.ts";
import { FileEntry } from "../../src/contract.ts";
import { temporaryDir } from "../support/agent-place.ts";

const big = Buffer.alloc(3_000_000, "a large file ");
const signal = new AbortController().signal;

/** A root whose files were just written. */
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

/** A store that has already read the whole root. Tests change the root afterwards. */
async function packWhole(root: string, dir: string, onEntry: (found: Found) => void = () => {}) {
  const done = Promise.withResolvers<void>();
  async function* entries() {
    for await (const found of treeAt(root).entries()) {
      onEntry(found);
      yield found;
    }
    done.resolve();
  }
  const tree: RootTree = { ...treeAt(root), entries };
  const store = await FileStoreWriter.begin({ dir, signal });
  const ahead = store.packAhead(tree);
  await done.promise;
  await ahead.end();
  return { store, ahead };
}

function touch({ path, hostPath }: Found): void {
  if (path === "/etc/kept") writeFileSync(hostPath, "content kept");
}

function spoil({ path, hostPath }: Found): void {
  if (path === "/etc/kept") rmSync(hostPath);
  if (path === "/big") truncateSync(hostPath, 2_000_000);
}

/** The content of each path in the store. */
function contentsOf({ files, index }: FileStore): Record<string, string> {
  const bytes = readFileSync(files.path);
  const lines = gunzipSync(readFileSync(index.path)).toString().split("\n");
  const entries = lines.filter((line) => line.startsWith('{"path"')).map((line) => FileEntry.parse(JSON.parse(line)));
  return Object.fromEntries(
    entries.flatMap((entry) => {
      if (entry.type !== "f") return [];
      const frame = bytes.subarray(entry.offset, entry.offset + entry.length);
      return [[entry.path, zstdDecompressSync(frame).toString().slice(0, 40)]];
    }),
  );
}

describe("contents packed ahead", () => {
  it("are used only for files that have not changed since", async () => {
    await using dir = await temporaryDir();
    const root = await settledRoot(dir.path);
    await using store = (await packWhole(root, dir.path)).store;
    const at = (name: string) => join(root, "etc", name);
    const { atime, mtime } = statSync(at("changed"));
    writeFileSync(at("changed"), "CONTENT changed"); // the same size and time as before
    utimesSync(at("changed"), atime, mtime);
    writeFileSync(at("new"), "another one");
    renameSync(at("new"), at("replaced"));
    rmSync(at("gone"));

    expect(contentsOf(await store.finish(treeAt(root)))).toEqual({
      "/big": big.toString().slice(0, 40),
      "/etc/changed": "CONTENT changed",
      "/etc/empty": "",
      "/etc/kept": "content kept",
      "/etc/replaced": "another one",
      "/twin": big.toString().slice(0, 40),
    });
  });

  it("are not packed again", async () => {
    await using dir = await temporaryDir();
    const root = await settledRoot(dir.path);
    await using store = (await packWhole(root, dir.path)).store;
    const before = store.files.bytes;

    const { files } = await store.finish(treeAt(root));

    expect(files.digests.size).toBe(before);
  });

  it("exclude files that changed a moment ago", async () => {
    await using dir = await temporaryDir();
    const root = await settledRoot(dir.path);

    const { store, ahead } = await packWhole(root, dir.path, touch);
    await using _ = store;

    expect(ahead.find(join(root, "etc/kept"))).toBeUndefined();
    expect(ahead.find(join(root, "etc/gone"))).toBeDefined();
  });

  it("skip a file that vanishes or changes while it is read", async () => {
    await using dir = await temporaryDir();
    const root = await settledRoot(dir.path);

    const { store, ahead } = await packWhole(root, dir.path, spoil);
    await using _ = store;

    expect(ahead.find(join(root, "twin"))).toBeDefined();
    expect(ahead.find(join(root, "big"))).toBeUndefined();
    expect(contentsOf(await store.finish(treeAt(root)))).toMatchObject({
      "/etc/gone": "content gone",
      "/big": big.toString().slice(0, 40),
    });
  });
});
