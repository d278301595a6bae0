import { describe, expect, it } from "vitest";
import { imageTypes, type Capabilities } from "#lib/contract/index";
import { whyNoEfi } from "#domain/builds/builder-abilities";
import { efiBootLoaderOf, firmwareOf, type BootFacts } from "#domain/images/firmware";
import { capabilities } from "../support/fake-agent.ts";

const facts: BootFacts = {
  arch: "x86_64",
  imageType: "oem",
  baseSystem: { efiBootLoaders: ["shim", "grub2-x86_64-efi"] },
  packages: [{ name: "grub2" }, { name: "grub2-x86_64-efi" }],
};

describe("firmwareOf", () => {
  it.each<[string, Partial<BootFacts>, string]>([
    ["the packages include an EFI boot loader", {}, "efi"],
    ["the packages include none", { packages: [{ name: "grub2" }] }, "bios"],
    ["the machine is 32-bit", { arch: "i586" }, "bios"],
    ["the catalogue names no boot loaders", { baseSystem: {} }, "bios"],
  ])("returns the right firmware if %s", (_what, change, firmware) => {
    expect(firmwareOf({ ...facts, ...change })).toBe(firmware);
  });

  it("is BIOS for images without a boot loader", () => {
    expect(imageTypes.filter((imageType) => firmwareOf({ ...facts, imageType }) === "bios")).toEqual([
      "net",
      "oci",
      "wsl",
    ]);
  });

  it("names the boot loader's package", () => {
    expect(efiBootLoaderOf(facts)).toBe("grub2-x86_64-efi");
  });
});

const agent = (change: object = {}): Capabilities => ({ ...capabilities, ...change });

describe("whyNoEfi", () => {
  const wanted = { imageType: "oem", arch: "x86_64", packageType: "rpm", loader: "grub2-x86_64-efi" } as const;

  it.each([
    ["no builder has reported its capabilities", []],
    ["one builder supports EFI", [agent({ noEfi: { oem: "mkdosfs" } }), agent()]],
    ["only media lack a program", [agent({ noEfi: { iso: "mcopy" } })]],
    ["no builder supports the image type", [agent({ noEfi: { oem: "mkdosfs" }, imageTypes: ["iso"] })]],
    ["something else is missing", [agent({ noLvm: "lvm2" })]],
  ])("is undefined if %s", (_what, agents) => {
    expect(whyNoEfi(agents, wanted)).toBeUndefined();
  });

  it("names the package and the missing program", () => {
    expect(whyNoEfi([agent({ noEfi: { oem: "mkdosfs" } }), agent({ noEfi: { oem: "kernel: vfat" } })], wanted)).toMatch(
      /UEFI, which grub2-x86_64-efi requires\. They lack: mkdosfs; kernel: vfat\.$/,
    );
  });
});
