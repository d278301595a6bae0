import { truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { imageFormats, imageTypes, type ImageType } from "../../src/contract.ts";
import { checkImages } from "../../src/guest/image-types.ts";
import { temporaryDir } from "../support/agent-place.ts";

/** Writes hex digits at a position. Without digits, the file is empty. */
type Content = [position: number, bytes: string] | [];

const disk: Record<string, Content> = { "a.raw": [510, "55aa"], "a.packages": [] };
const medium: Record<string, Content> = { "a.iso": [0x8001, "4344303031"], "a.packages": [] };
const tree: Record<string, Content> = {
  a: [0, "68737173"],
  "a.md5": [],
  "a.kernel": [0x202, "48647253"],
  "a.initrd": [0, "fd377a585a00"],
  "a.packages": [],
};
const root: Record<string, Content> = { "a.tar.xz": [257, "7573746172"], "a.packages": [] };
/** The files that KIWI leaves. */
const products = { disk, live: medium, network: tree, installer: { ...disk, ...medium }, container: root };
const good = (imageType: ImageType): Record<string, Content> => products[imageFormats[imageType].product];

async function check(imageType: ImageType, files: Record<string, Content>, packagesBytes = 100): Promise<void> {
  await using dir = await temporaryDir();
  for (const [name, [position = 0, bytes = ""]] of Object.entries(files)) {
    const content = Buffer.alloc(64 * 1024);
    Buffer.from(bytes, "hex").copy(content, position);
    writeFileSync(join(dir.path, name), content);
    if (name.endsWith(".packages")) truncateSync(join(dir.path, name), packagesBytes);
  }
  await checkImages(dir.path, imageType);
}

const without = (files: Record<string, Content>, name: string) =>
  Object.fromEntries(Object.entries(files).filter(([each]) => each !== name));

describe("checkImages", () => {
  it.each(imageTypes)("accepts KIWI's files for %s, and requires each of them", async (imageType) => {
    await expect(check(imageType, good(imageType))).resolves.toBeUndefined();
    // The disk of an installation medium is also in the same folder.
    const needed = Object.keys(good(imageType)).filter((name) => imageType !== "oemiso" || name !== "a.raw");
    for (const name of needed) {
      await expect(check(imageType, without(good(imageType), name)), name).rejects.toMatchObject({ kind: "failed" });
    }
    await expect(check(imageType, {})).rejects.toMatchObject({ kind: "failed" });
  });

  it.each<[ImageType, ImageType]>([
    ["oem", "iso"],
    ["iso", "oem"],
    ["net", "oem"],
    ["oemiso", "oem"],
    ["ec2", "net"],
    ["oci", "iso"],
  ])("accepts for %s nothing of %s", async (imageType, other) => {
    await expect(check(imageType, good(other))).rejects.toThrow("ended without its files");
  });

  it.each<[ImageType, string, Content]>([
    ["oem", "a.raw", [0, "514649fb"]],
    ["iso", "a.iso", [0, "4344303031"]],
    ["net", "a.kernel", [0, "48647253"]],
    ["net", "a.initrd", [0, "514649fb"]],
    ["net", "a", [0, "514649fb"]],
    ["wsl", "a.tar.xz", [0, "fd377a585a00"]],
  ])("checks the content: %s, %s", async (imageType, name, content) => {
    const failure = { kind: "failed", message: expect.stringContaining(`left a file ${name} that is not`) };
    await expect(check(imageType, { ...good(imageType), [name]: content })).rejects.toMatchObject(failure);
  });

  it("knows four ways to compress an initramfs", async () => {
    for (const bytes of ["1f8b", "fd377a585a00", "28b52ffd", "303730373031"]) {
      await expect(check("net", { ...tree, "a.initrd": [0, bytes] })).resolves.toBeUndefined();
    }
  });

  it("refuses two images, and an endless list of packages", async () => {
    const two = { ...disk, "b.raw": disk["a.raw"] ?? [] };
    await expect(check("oem", two)).rejects.toThrow("several .raw files");
    await expect(check("oem", disk, 2 ** 34)).rejects.toThrow("too large");
  });
});
