import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { linkSync, mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { packFolder } from "../../src/run/archive.ts";
import { findProgram } from "../../src/programs.ts";
import { PartedFile } from "../../src/upload/parted-file.ts";
import { temporaryDir } from "../support/agent-place.ts";

/** Large enough that tar is still running when the first bytes arrive. */
const disk = randomBytes(48 * 2 ** 20);
const { signal } = new AbortController();

async function packedWhile(change: (disk: string) => void) {
  const dir = await temporaryDir();
  const file = await PartedFile.create(dir.path, "image.tar.gz");
  const image = join(dir.path, "image/disk.raw");
  mkdirSync(join(dir.path, "image"));
  writeFileSync(image, disk);
  const packing = packFolder({ dir: dir.path, names: ["image"] }, file, signal);
  packing.catch(() => {});
  while (file.bytes === 0) await sleep(1);
  change(image);
  const dispose = async () => {
    await file[Symbol.asyncDispose]();
    await dir[Symbol.asyncDispose]();
  };
  return { file, packing, [Symbol.asyncDispose]: dispose };
}

it("packs a disk whose hard links change meanwhile", async () => {
  await using packed = await packedWhile((image) => linkSync(image, join(image, "../../link")));
  await packed.packing;

  const unpacked = execFileSync("tar", ["-xzOf", packed.file.path, "image/disk.raw"], { maxBuffer: 2 * disk.length });
  expect(Buffer.compare(unpacked, disk)).toBe(0);
});

it("fails for a disk that is truncated meanwhile", async () => {
  await using packed = await packedWhile((image) => truncateSync(image, disk.length - 4096));
  await expect(packed.packing).rejects.toThrow(/tar: .*shrank/);
});

/** Packs a folder twice on a host that has only these programs, and expects the same bytes. */
async function packedBy(programs: readonly string[]): Promise<Buffer> {
  await using dir = await temporaryDir();
  mkdirSync(join(dir.path, "image"));
  writeFileSync(join(dir.path, "image/disk.raw"), "disk ".repeat(100_000));
  const path = process.env["PATH"] ?? "";
  for (const program of ["tar", ...programs]) {
    symlinkSync((await findProgram(program, path)) ?? "", join(dir.path, program));
  }
  process.env["PATH"] = dir.path;
  try {
    for (const name of ["first", "second"]) {
      await using file = await PartedFile.create(dir.path, name);
      await packFolder({ dir: dir.path, names: ["image"], sourceDate: 1 }, file, signal);
    }
  } finally {
    process.env["PATH"] = path;
  }
  const [first, second] = [readFileSync(join(dir.path, "first")), readFileSync(join(dir.path, "second"))];
  expect(second.equals(first)).toBe(true);
  return first;
}

it("packs with what the host has, always the same bytes without a time", async () => {
  const [gzip, pigz, both] = [await packedBy(["gzip"]), await packedBy(["pigz"]), await packedBy(["pigz", "igzip"])];
  for (const archive of [gzip, pigz, both]) {
    expect(archive.readUInt32LE(4)).toBe(0);
    const unpacked = execFileSync("tar", ["-xzO"], { input: archive, encoding: "utf8" });
    expect(unpacked).toBe("disk ".repeat(100_000));
  }
  expect(both.equals(pigz)).toBe(false);
});
