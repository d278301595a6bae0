/** How the verification of Secure Boot finds an image's signed programs, and changes them. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { changeByte } from "../../scripts/verify/secure-boot/signed-programs.ts";

const dir = mkdtempSync(join(tmpdir(), "kiln-verify-secure-boot-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const peAt = 128;
const sectionsAt = peAt + 24 + 240;
const [codeAt, sbatAt, size] = [1024, 2048, 8192];

/** A program for UEFI with the same beginning as shim, GRUB and Linux. */
function program({ sbat, isLinux = false, isSigned = true }: { sbat?: string; isLinux?: boolean; isSigned?: boolean }) {
  const bytes = Buffer.alloc(size);
  bytes.write("MZ");
  bytes.writeUInt32LE(peAt, 60);
  bytes.write("PE\0\0", peAt);
  bytes.writeUInt16LE(2, peAt + 6);
  bytes.writeUInt16LE(240, peAt + 20);
  bytes.writeUInt32LE(isSigned ? 1000 : 0, peAt + 172);
  if (isLinux) bytes.write("HdrS", 0x202);
  for (const [nth, [name, at]] of (
    [
      [".text", codeAt],
      [".sbat", sbatAt],
    ] as const
  ).entries()) {
    bytes.write(name, sectionsAt + nth * 40);
    bytes.writeUInt32LE(at, sectionsAt + nth * 40 + 20);
  }
  if (sbat !== undefined) bytes.write(`sbat,1,SBAT Version,sbat,1,https://x\n${sbat},4,A loader\n`, sbatAt);
  return bytes;
}

const parts = [
  Buffer.alloc(512, "MZ"),
  program({ sbat: "shim" }),
  program({ sbat: "grub" }),
  program({ isLinux: true }),
  program({ isLinux: true, isSigned: false }),
  program({ sbat: "systemd-boot" }),
  program({ sbat: "shim" }),
];
const image = join(dir, "image.raw");

/** The positions of bytes that differ from the original image. */
function differencesAfter(change: Buffer): number[] {
  const before = Buffer.concat(parts);
  return [...change.keys()].filter((at) => change[at] !== before[at]);
}

describe("the verification of Secure Boot", () => {
  it.each([
    ["shim", [1, 6]],
    ["GRUB", [2]],
    ["kernel", [3]],
  ] as const)("changes a byte of the code in each signed %s", async (name, places) => {
    writeFileSync(image, Buffer.concat(parts));

    expect(await changeByte(image, name)).toBe(places.length);

    const at = places.map((place) => 512 + (place - 1) * size + codeAt);
    expect(differencesAfter(readFileSync(image))).toEqual(at);
  });

  it("refuses an image without the program", async () => {
    writeFileSync(image, program({ sbat: "grub" }));
    await expect(changeByte(image, "shim")).rejects.toThrow("There is no signed shim");
  });
});
