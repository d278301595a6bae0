import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as fc from "../../../test/support/properties.ts";
import { compare } from "../../src/modified/compare.ts";
import { UnreadableDisk, type Disk } from "../../src/modified/disk.ts";
import { rootFileSystem } from "../../src/modified/file-system.ts";
import { overlayDisk } from "../../src/modified/qcow2.ts";
import { makeDisk, partitionAt } from "./disks.ts";

// A guest can write every byte that these readers parse. Each run damages a real disk and a real overlay at different
// positions.

const dir = mkdtempSync(join(tmpdir(), "kiln-fuzz-"));
let disk: Buffer;
let overlay: Buffer;

beforeAll(() => {
  const made = makeDisk(
    dir,
    { "/etc/motd": "hello\n", "/srv/a/b/c": "c\n", "/srv/link": { target: "a" } },
    { options: ["-b", "1024"] },
  );
  disk = readFileSync(made.raw);
  overlay = readFileSync(made.overlay(["rm /etc/motd", "mkdir /srv/new"]));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** Bytes that overwrite a file's, mostly in its header, where one byte can change the meaning of all others. */
const damage = (length: number) =>
  fc.array(
    fc.record({
      at: fc.oneof(fc.nat(4096), fc.nat(length - 8)),
      bytes: fc.oneof(fc.uint8Array({ minLength: 1, maxLength: 8 }), fc.constant(new Uint8Array(8).fill(0xff))),
    }),
    { minLength: 1, maxLength: 20 },
  );

type Damage = { at: number; bytes: Uint8Array }[];

/** The bytes from `position` on, after the damage. */
function damaged(bytes: Uint8Array, position: number, patches: Damage): Buffer {
  const copy = Buffer.from(bytes);
  for (const { at, bytes: patch } of patches)
    for (const [index, byte] of patch.entries()) {
      const place = at + index - position;
      if (place >= 0 && place < copy.length) copy[place] = byte;
    }
  return copy;
}

/** Far more reads than an undamaged disk needs, but few enough that an endless reader fails soon. */
const mostReads = 20_000;

/** A disk that fails the test if it is read too often. */
const diskOf = (bytes: Buffer, patches: Damage = [], reads = { count: 0 }): Disk => ({
  size: bytes.length,
  async read(position, length) {
    if (++reads.count > mostReads) throw new Error("a damaged disk is read without end");
    if (position < 0 || position + length > bytes.length) throw new UnreadableDisk("it names a place behind its end");
    return damaged(bytes.subarray(position, position + length), position - partitionAt, patches);
  },
});

/** Returns the result of the work, or undefined if it refused the disk. Any other error fails the test. */
async function refusedOr<T>(work: () => Promise<T>): Promise<T | undefined> {
  const result = await work().catch((error: unknown) => {
    if (!(error instanceof UnreadableDisk)) throw error;
  });
  return result ?? undefined;
}

describe("a damaged disk", () => {
  it("is compared or refused", async () => {
    await fc.assert(
      fc.asyncProperty(damage(600_000), async (patches) => {
        const sides = async () => ({
          before: await rootFileSystem(diskOf(disk)),
          after: await rootFileSystem(diskOf(disk, patches)),
        });
        const found = await refusedOr(async () =>
          compare(await sides(), { paths: [], except: [] }, AbortSignal.timeout(200_000)),
        );
        for (const { path } of found?.changes ?? []) expect(path).toMatch(/^\//);
      }),
      { numRuns: 40 },
    );
  });
});

describe("a damaged overlay", () => {
  it("is refused if its table is said to be beyond any file", async () => {
    const file = join(dir, "beyond.qcow2");
    writeFileSync(file, damaged(overlay, 0, [{ at: 40, bytes: new Uint8Array(8).fill(0xff) }]));
    await using handle = await open(file);
    await expect(overlayDisk(handle, diskOf(disk))).rejects.toThrow(UnreadableDisk);
  });

  it("returns all bytes of a range, or is refused", async () => {
    const file = join(dir, "damaged.qcow2");
    const range = fc.record({ position: fc.nat(48 * 1024 * 1024), length: fc.nat(200_000) });
    await fc.assert(
      fc.asyncProperty(damage(overlay.length), range, async (patches, { position, length }) => {
        writeFileSync(file, damaged(overlay, 0, patches));
        await using handle = await open(file);
        const read = async () => (await overlayDisk(handle, diskOf(disk))).read(position, length);
        expect((await refusedOr(read))?.length ?? length).toBe(length);
      }),
      { numRuns: 100 },
    );
  });
});
