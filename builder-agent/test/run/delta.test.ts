import { randomBytes, createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { afterEach, beforeEach, expect, it } from "vitest";
import { readHeader } from "../../src/delta.ts";
import { RemoteRefusal } from "../../src/retry.ts";
import { earlierDisk, writeDelta, type EarlierDisk } from "../../src/run/delta.ts";
import { temporaryDir } from "../support/agent-place.ts";

let dir: Awaited<ReturnType<typeof temporaryDir>>;
beforeEach(async () => void (dir = await temporaryDir()));
afterEach(async () => await dir[Symbol.asyncDispose]());

const signal = new AbortController().signal;
const lease = { id: 1, token: "a" };
/** The block size of a disk of less than 1 GiB. */
const blockBytes = 1024;
const block = () => randomBytes(blockBytes);
const zeros = Buffer.alloc(blockBytes);
const shared = Array.from({ length: 600 }, block);

function diskOf(name: string, blocks: readonly Buffer[]): string {
  const file = join(dir.path, name);
  writeFileSync(file, Buffer.concat(blocks));
  return file;
}

const write = (disk: string, name: string, earlier?: EarlierDisk) =>
  writeDelta(disk, { workDir: dir.path, name, earlier: async () => earlier, signal });

/** The disk of a delta, as the next build reads it. */
async function after(disk: string): Promise<EarlierDisk> {
  const { delta } = await write(disk, "first");
  const notes: string[] = [];
  const readEarlierDelta = async () => new Response(readFileSync(delta?.path ?? ""));
  const found = await earlierDisk({ readEarlierDelta }, { lease, signal, onNote: (note) => void notes.push(note) });
  if (!found) throw new Error(notes.join());
  return found;
}

/** The header, and the blocks after the hashes. */
function opened(file: string) {
  const bytes = readFileSync(file);
  const found = readHeader(bytes);
  if (!found) throw new Error("no header");
  return { header: found.header, rest: bytes.subarray(found.bytes + found.header.hashes) };
}

it("has exactly the blocks that the earlier disk lacks, wherever that has the others", async () => {
  const earlier = await after(diskOf("old.raw", [...shared, zeros, block()]));
  const [one, two, end] = [block(), block(), randomBytes(512)];
  const disk = diskOf("new.raw", [one, ...shared.toReversed(), zeros, zeros, two, end]);

  const { sha256, delta } = await write(disk, "second", earlier);

  const { header, rest } = opened(delta?.path ?? "");
  expect(sha256).toBe(createHash("sha256").update(readFileSync(disk)).digest("hex"));
  expect(header).toMatchObject({ disk: { sha256, size: 604 * blockBytes + 512 }, from: earlier.sha256 });
  expect(brotliDecompressSync(rest).equals(Buffer.concat([one, two, end]))).toBe(true);
});

it("has only hashes if there is no previous image, or if too little of it is left", async () => {
  const first = await write(diskOf("old.raw", shared), "first");
  const earlier = await after(diskOf("other.raw", shared.slice(0, 250)));
  const other = await write(diskOf("new.raw", shared), "second", earlier);

  for (const { delta } of [first, other]) {
    const { header, rest } = opened(delta?.path ?? "");
    expect([header.from, rest.length]).toEqual([undefined, 0]);
  }
});

it.each([
  ["is none", () => Promise.reject(new RemoteRefusal("GET", 404, "")), []],
  ["cannot be read", () => Promise.reject(new RemoteRefusal("GET", 500, "")), [/could not be read: GET: HTTP 500/]],
  ["is damaged", async () => new Response("x".repeat(2000)), [/could not be read: it has no header/]],
  ["ends too early", async () => new Response("{"), [/could not be read: it ended too early/]],
])("is no reason for a build to fail if the earlier one %s", async (_, readEarlierDelta, said) => {
  const notes: string[] = [];
  const found = await earlierDisk({ readEarlierDelta }, { lease, signal, onNote: (note) => void notes.push(note) });
  expect(found).toBeUndefined();
  expect(notes).toEqual(said.map((each) => expect.stringMatching(each)));
});
