import { Buffer } from "node:buffer";
import { gzipSync } from "node:zlib";
import { env } from "cloudflare:workers";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { FileIndexWriter } from "../../builder-agent/src/run/file-index.ts";
import { orderOf, pointerText, type FileEntry } from "#lib/contract/index";
import { FileIndex } from "#domain/images/file-store";
import { Refusal } from "#domain/refusal";

const names = Array.from({ length: 9000 }, (_, nth) => `/usr/share/folder-${nth % 90}/file-${nth}`);
const paths = ["/", "/usr", ...names].toSorted((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1));
const entry = (path: string): FileEntry => ({ path, type: "d", mode: 0o755, uid: 0, gid: 0, owner: "root" });

async function opened(key: string, bytes: Buffer): Promise<FileIndex> {
  await env.BLOBS.put(key, Uint8Array.from(bytes));
  return await FileIndex.open(env.BLOBS, { key, size: bytes.length });
}

async function pathsFrom(index: FileIndex, order: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { path } of index.entriesFrom(order)) found.push(path);
  return found;
}

describe("the entries of an index", () => {
  let index: FileIndex;
  beforeAll(async () => {
    const writer = new FileIndexWriter();
    for (const path of paths) writer.add(entry(path));
    index = await opened("test/files-index", Buffer.concat(writer.end()));
  });

  it("are read from the first one, many blocks at a time", async () => {
    const reads = vi.spyOn(env.BLOBS, "get");
    expect(await pathsFrom(index, "")).toEqual(paths);
    expect(reads.mock.calls.length).toBeLessThan(5);
    reads.mockRestore();
  });

  it.each([0, 1, 2, 777, 5000, paths.length - 1])("are read from place %i on", async (place) => {
    const path = paths[place] ?? "";
    expect(await pathsFrom(index, orderOf(path))).toEqual(paths.slice(place));
    expect(await pathsFrom(index, `${orderOf(path)}\0`)).toEqual(paths.slice(place + 1));
  });

  it("are none after the last one", async () => {
    expect(await pathsFrom(index, "\u{10ffff}")).toEqual([]);
  });
});

const block = (...inside: string[]) => gzipSync(inside.map((path) => `${JSON.stringify(entry(path))}\n`).join(""));

/** An index of these blocks; `gap`: bytes after each that its table does not list. */
function indexOf(blocks: Buffer[], gap = 0): Buffer {
  let offset = 0;
  const rows = blocks.map((bytes) => {
    const row = { first: "/", offset, length: bytes.length };
    offset += bytes.length + gap;
    return row;
  });
  const table = gzipSync(JSON.stringify({ formatVersion: 1, blocks: rows }));
  const body = blocks.flatMap((bytes) => [bytes, Buffer.alloc(gap)]);
  return Buffer.concat([...body, table, gzipSync(pointerText(offset), { level: 0 })]);
}

describe("an index that is wrong", () => {
  beforeAll(() => vi.spyOn(console, "error").mockImplementation(() => {}));
  afterAll(() => vi.restoreAllMocks());

  it.each<[string, Buffer]>([
    ["in the order of its entries", indexOf([block("/b", "/a")])],
    ["in the order of its blocks", indexOf([block("/b"), block("/a")])],
    ["with a name twice", indexOf([block("/a", "/a")])],
    ["in the offsets of its blocks", indexOf([block("/a"), block("/b")], 7)],
  ])("%s is refused", async (what, bytes) => {
    const index = await opened(`test/${what}`, bytes);
    const refusal = await pathsFrom(index, "").catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(Refusal);
    expect(refusal).toMatchObject({ code: "raw_image_unavailable" });
  });
});
