/** The same disk gives the same file in every format: qemu-img's own identifiers and times are replaced. */
import { createHash } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { imageFormats, imageTypes, type ImageType } from "../../src/contract.ts";
import { outputOf } from "../../src/process.ts";
import { convertDisk, machineOf } from "../../src/run/machine.ts";
import { packImage } from "../../src/run/pack.ts";
import { temporaryDir } from "../support/agent-place.ts";
import { frozenInput } from "../support/frozen-input.ts";

const types = imageTypes.filter((type) => imageFormats[type].product === "disk");
const converted = types.filter((type) => imageFormats[type].container?.conversion);
const signal = new AbortController().signal;
const seed = "5".repeat(64);
const machine = machineOf(frozenInput());

let dir: Awaited<ReturnType<typeof temporaryDir>>;
const at = (...names: string[]) => join(dir.path, ...names);

/** A disk with contents and holes. */
const disk = Buffer.alloc(8 * 2 ** 20);
for (let n = 0; n < 4096; n++)
  createHash("sha512")
    .update(String(n))
    .digest()
    .copy(disk, n * 64 + (n % 3) * 2 ** 21);

beforeAll(async () => {
  dir = await temporaryDir();
  writeFileSync(at("raw"), disk);
});
afterAll(() => dir[Symbol.asyncDispose]());

async function packed(imageType: ImageType, given: string): Promise<string> {
  const workDir = at("work");
  mkdirSync(workDir);
  writeFileSync(at("work/image"), disk);
  const built = { format: "raw" as const, imageType, image: at("work/image"), rawSize: disk.length };
  const more = { installed: [], machine, sourceDate: 1_767_225_600, seed: given };
  const { digests } = await packImage({ ...built, ...more }, `Kiosk-0.0.1.${imageType}`, { workDir, signal });
  rmSync(workDir, { recursive: true });
  return digests.sha256;
}

it.each(types)("%s is the same file each time", async (type) => {
  expect(await packed(type, seed)).toBe(await packed(type, seed));
});

it.each(["vdi", "vhdx", "vhd", "vmx", "ova"] as const)("%s has other identifiers for another input", async (type) => {
  expect(await packed(type, seed)).not.toBe(await packed(type, "6".repeat(64)));
});

it.each(converted)("%s still has the contents of the disk", async (type) => {
  const conversion = imageFormats[type].container?.conversion ?? expect.fail("it is raw");
  const to = at(`disk.${type}`);
  await convertDisk(at("raw"), { conversion, to, seed, signal });

  const said = await outputOf("qemu-img", ["compare", "-f", "raw", "-F", conversion.driver, at("raw"), to], signal);

  expect(said, basename(to)).toContain("Images are identical.");
});
