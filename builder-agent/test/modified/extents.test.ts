import { describe, expect, it } from "vitest";
import { cachedBlocks, type Geometry } from "../../src/modified/ext4-blocks.ts";
import { extentsOf, type Inode } from "../../src/modified/ext4-inode.ts";

const blockBytes = 1024;
const entriesOfBlock = 84;

const geometry: Geometry = {
  blockBytes,
  blocks: 1_000,
  inodes: 16,
  inodesPerGroup: 16,
  inodeBytes: 256,
  groupsAt: 1,
  groupBytes: 32,
  journal: 0,
  needsRecovery: false,
};

interface Node {
  depth: number;
  entries: Buffer[];
}

function write({ depth, entries }: Node, bytes: number): Buffer {
  const node = Buffer.alloc(bytes);
  node.writeUInt16LE(0xf30a, 0);
  node.writeUInt16LE(entries.length, 2);
  node.writeUInt16LE(depth, 6);
  for (const [index, entry] of entries.entries()) entry.copy(node, 12 + index * 12);
  return node;
}

function index(child: number): Buffer {
  const entry = Buffer.alloc(12);
  entry.writeUInt32LE(child, 4);
  return entry;
}

function extent(at: number, count: number, start: number): Buffer {
  const entry = Buffer.alloc(12);
  entry.writeUInt32LE(at, 0);
  entry.writeUInt16LE(count, 4);
  entry.writeUInt32LE(start, 8);
  return entry;
}

/** The extents of a file whose tree begins with `root`. */
function extentsBelow(root: Node, nodes: Record<number, Node>) {
  const inode: Inode = {
    number: 12,
    type: "f",
    mode: 0o644,
    uid: 0,
    gid: 0,
    size: 1,
    times: "",
    modifiedAt: 0,
    flags: 0x80000,
    body: write(root, 60),
  };
  const read = async (block: number) => write(nodes[block] ?? { depth: 9, entries: [] }, blockBytes);
  return Array.fromAsync(extentsOf(read, geometry, inode));
}

const many = (child: number) => Array.from({ length: entriesOfBlock }, () => index(child));

describe("the extents of a file", () => {
  it("are those of all leaves, in order", async () => {
    const nodes = {
      1: { depth: 1, entries: [index(2), index(3)] },
      2: { depth: 0, entries: [extent(0, 2, 20)] },
      3: { depth: 0, entries: [extent(5, 32_769, 0)] },
    };
    expect(await extentsBelow({ depth: 2, entries: [index(1)] }, nodes)).toEqual([
      { at: 0, count: 2, start: 20 },
      { at: 5, count: 1, start: null },
    ]);
  });

  it.each<[string, Record<number, Node>]>([
    ["a leaf has no extent", { 2: { depth: 1, entries: many(1) }, 1: { depth: 0, entries: [] } }],
    ["an extent has no blocks", { 2: { depth: 1, entries: many(1) }, 1: { depth: 0, entries: [extent(0, 0, 9)] } }],
    ["a leaf appears twice", { 2: { depth: 1, entries: many(1) }, 1: { depth: 0, entries: [extent(0, 1, 9)] } }],
    ["an inner node is empty", { 2: { depth: 1, entries: [] } }],
    ["a level is missing", { 3: { depth: 2, entries: [index(2)] }, 2: { depth: 0, entries: [extent(0, 1, 9)] } }],
  ])("are refused if %s", async (_, nodes) => {
    const root = { depth: 3, entries: [index(3)] };
    await expect(extentsBelow(root, { 3: { depth: 2, entries: many(2) }, ...nodes })).rejects.toThrow("damaged");
  });
});

describe("cachedBlocks", () => {
  it("lets timers run while all blocks come from the cache", async () => {
    const disk = { size: blockBytes, read: async () => Buffer.alloc(blockBytes) };
    const read = cachedBlocks(disk, blockBytes);
    let ticks = 0;
    const timer = setInterval(() => ticks++, 1);
    for (const end = performance.now() + 200; performance.now() < end;) await read(0);
    clearInterval(timer);
    expect(ticks).toBeGreaterThan(1);
  });
});
