import { describe, expect, it } from "vitest";
import { entryBundle, isTilePath, newTiles, nodesInTiles, tilePath } from "#lib/attest/log/tiles";
import {
  consistencyProof,
  inclusionProof,
  isConsistent,
  leafHash,
  rootFromInclusion,
  rootOf,
  type NodeAt,
} from "#lib/attest/log/tree";
import { assert, asyncProperty, integer } from "../../support/properties.ts";
import { mth, PlainLog } from "../../attest/log/plain-log.ts";

const most = 300;
const log = new PlainLog();
const roots = [mth([])];
for (let at = 0; at < most; at += 1) {
  log.grow([`entry ${at}`]);
  roots.push(log.head.root);
}
/** The hashes in the tiles of this size. Each is computed once, because most proofs share most of them. */
function nodesAt(size: number): NodeAt {
  const inTiles = nodesInTiles(size, log.read);
  const known = new Map<string, Promise<Buffer>>();
  return async (level, position) => {
    const name = `${level}/${position}`;
    const hash = known.get(name) ?? Promise.resolve(inTiles(level, position));
    known.set(name, hash);
    return await hash;
  };
}
const rootAt = (size: number): Buffer => roots[size] ?? Buffer.alloc(0);

describe("a log's tree", () => {
  // The leaves and roots that implementations of Certificate Transparency use for their own tests.
  it("has the roots that other implementations compute", async () => {
    const hex = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"];
    const known = new PlainLog();
    known.grow(hex.map((text) => Buffer.from(text, "hex").toString("latin1")));
    const root = async (size: number) => (await rootOf(size, nodesInTiles(8, known.read))).toString("hex");
    expect(await root(1)).toBe("6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d");
    expect(await root(2)).toBe("fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125");
    expect(await root(3)).toBe("aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77");
    expect(await root(8)).toBe("5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328");
  });

  it("has the root of RFC 6962 at every size", async () => {
    for (let size = 0; size <= most; size += 1)
      expect(await rootOf(size, nodesInTiles(size, log.read))).toEqual(rootAt(size));
  });

  it("proves each entry at every size", async () => {
    for (let size = 1; size <= most; size += 1) {
      const nodeAt = nodesAt(size);
      for (let position = 0; position < size; position += 1) {
        const proof = await inclusionProof(position, size, nodeAt);
        const root = rootFromInclusion({ position, size }, leafHash(`entry ${position}`), proof);
        if (!root?.equals(rootAt(size))) expect.fail(`entry ${position} of ${size}`);
      }
    }
  });

  it("proves no entry at another position, of another size, or with a changed, missing or further hash", async () => {
    await assert(
      asyncProperty(
        integer({ min: 1, max: most }),
        integer({ min: 0 }),
        integer({ min: 0 }),
        async (size, one, other) => {
          const position = one % size;
          const proof = await inclusionProof(position, size, nodesInTiles(size, log.read));
          const leaf = leafHash(`entry ${position}`);
          const proves = (at: { position: number; size: number }, hash: Buffer, hashes: readonly Buffer[]) =>
            rootFromInclusion(at, hash, hashes)?.equals(rootAt(size)) ?? false;
          const at = { position, size };
          expect(proves(at, leaf, proof)).toBe(true);
          const wrong = other % size;
          if (wrong !== position) expect(proves({ position: wrong, size }, leaf, proof)).toBe(false);
          expect(proves({ position: size, size }, leaf, proof)).toBe(false);
          expect(proves(at, leafHash(`entry ${size}`), proof)).toBe(false);
          expect(proves(at, leaf, [...proof, rootAt(1)])).toBe(false);
          if (proof.length === 0) return;
          expect(proves(at, leaf, proof.slice(1))).toBe(false);
          expect(proves(at, leaf, proof.with(other % proof.length, rootAt(0)))).toBe(false);
        },
      ),
    );
  });

  it("proves that it contains each of its earlier states", async () => {
    for (let size = 0; size <= most; size += 1) {
      const nodeAt = nodesAt(size);
      const newer = { size, root: rootAt(size) };
      for (let old = 0; old <= size; old += size > 270 ? 1 : 7) {
        const proof = await consistencyProof(old, size, nodeAt);
        if (!isConsistent({ size: old, root: rootAt(old) }, newer, proof)) expect.fail(`${old} in ${size}`);
      }
    }
  });

  it("has tiles of several levels, whether it grows at once or in steps", async () => {
    const entries = Array.from({ length: 66_000 }, (_, at) => `${at}`);
    const leaves = entries.map((entry) => leafHash(entry));
    const nodes = [leaves];
    while ((nodes.at(-1)?.length ?? 0) > 1) {
      const below = nodes.at(-1) ?? [];
      const pairs = below.slice(0, below.length - (below.length % 2));
      nodes.push(pairs.flatMap((hash, at) => (at % 2 === 0 ? [mthOfPair(hash, pairs[at + 1])] : [])));
    }
    const files = new Map<string, Buffer>();
    for (const [from, to] of [
      [0, 255],
      [255, 257],
      [257, 65_535],
      [65_535, 65_536],
      [65_536, 66_000],
    ] as const)
      for (const tile of newTiles(from, to)) {
        if (tile.level === "entries") continue;
        const hashes = nodes[tile.level * 8]?.slice(tile.number * 256, tile.number * 256 + tile.width) ?? [];
        files.set(tilePath(tile), Buffer.concat(hashes));
      }
    const nodeAt = nodesInTiles(66_000, async (path) => files.get(path) ?? Buffer.alloc(0));
    const root = await rootOf(66_000, nodeAt);
    for (const position of [0, 255, 256, 65_535, 65_536, 65_999]) {
      const proof = await inclusionProof(position, 66_000, nodeAt);
      expect(rootFromInclusion({ position, size: 66_000 }, leafHash(`${position}`), proof)).toEqual(root);
    }
    expect([...files.keys()].filter((path) => path.startsWith("tile/2"))).toEqual(["tile/2/000.p/1"]);
  });
});

const mthOfPair = (left: Buffer, right: Buffer | undefined): Buffer =>
  rootFromInclusion({ position: 0, size: 2 }, left, right ? [right] : []) ?? Buffer.alloc(0);

describe("the path of a tile", () => {
  it.each([
    [{ level: 0, number: 0, width: 256 }, "tile/0/000"],
    [{ level: 1, number: 17, width: 3 }, "tile/1/017.p/3"],
    [{ level: "entries", number: 1_234_067, width: 256 }, "tile/entries/x001/x234/067"],
  ] as const)("of %j is %s", (tile, path) => {
    expect(tilePath(tile)).toBe(path);
    expect(isTilePath(path)).toBe(true);
  });

  it.each([
    "tile/64/000",
    "tile/0/0",
    "tile/0/001/002",
    "tile/0/000.p/256",
    "tile/0/000.p/0",
    "tile/0/../000",
    "tile/00/000",
    "checkpoint",
  ])("is never %s", (path) => expect(isTilePath(path)).toBe(false));

  it("is that of the tiles which the specification lists for 70,000 entries", () => {
    const tiles = newTiles(0, 70_000).filter(({ level }) => level !== "entries");
    expect(tiles.filter(({ level, width }) => level === 0 && width === 256)).toHaveLength(273);
    expect(tiles.filter(({ width }) => width < 256).map(tilePath)).toEqual([
      "tile/0/273.p/112",
      "tile/1/001.p/17",
      "tile/2/000.p/1",
    ]);
    expect(newTiles(0, 256).map(tilePath)).toEqual(["tile/entries/000", "tile/0/000", "tile/1/000.p/1"]);
  });

  it("has the length of each entry before it", () => {
    expect(entryBundle(["a", "é"]).toString("hex")).toBe("0001610002c3a9");
  });
});
