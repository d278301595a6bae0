import { describe, expect, it } from "vitest";
import { imageTypes, type Capabilities } from "#lib/contract/index";
import { whyNoEfi } from "#domain/builds/builder-abilities";
import { bootOf, efiBootLoaderOf, firmwareOf, type BootFacts } from "#domain/images/firmware";
import { secureBootIssues } from "#domain/images/secure-boot";
import { unifiedKernelIssues } from "#domain/images/unified-kernel";
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

const signed: BootFacts = {
  arch: "x86_64",
  imageType: "oem",
  baseSystem: { efiBootLoaders: ["grub-efi"], secureBoot: ["shim-signed", "grub-signed"] },
  packages: [{ name: "linux-image-6.1-amd64" }, { name: "grub-efi" }, { name: "shim-signed" }, { name: "grub-signed" }],
};
const without = (lacked: string): BootFacts => ({
  ...signed,
  packages: signed.packages.filter(({ name }) => name !== lacked),
});

describe("an image with signed boot loaders", () => {
  it.each<[string, BootFacts, string]>([
    ["boots with Secure Boot", signed, "uefi"],
    ["boots by UEFI without shim", without("shim-signed"), "efi"],
    ["boots by UEFI without the signed GRUB", without("grub-signed"), "efi"],
    ["boots by BIOS without GRUB for UEFI", without("grub-efi"), "bios"],
    [
      "boots by UEFI if nothing of its base system is signed",
      { ...signed, baseSystem: { efiBootLoaders: ["grub-efi"] } },
      "efi",
    ],
    ["boots with Secure Boot as a live medium", { ...signed, imageType: "iso" }, "uefi"],
    ["boots with Secure Boot as an installer", { ...signed, imageType: "oemiso" }, "uefi"],
    ["has no firmware if it starts from a network", { ...signed, imageType: "net" }, "bios"],
  ])("%s", (_what, image, firmware) => {
    expect(firmwareOf(image)).toBe(firmware);
  });

  it("has no issues if all is there, or nothing was asked for", () => {
    expect(secureBootIssues(signed)).toEqual([]);
    expect(secureBootIssues({ ...signed, packages: [{ name: "grub-efi" }] })).toEqual([]);
    expect(secureBootIssues({ ...signed, baseSystem: {} })).toEqual([]);
  });

  it.each(["shim-signed", "grub-signed"])("has a warning that adds %s if only that is missing", (name) => {
    const [issue, ...others] = secureBootIssues(without(name));
    expect(others).toEqual([]);
    expect(issue).toMatchObject({ type: "warning", solution: { type: "install", package: name } });
    expect(issue?.text).toContain(`${name} is not selected`);
  });

  it.each(["net", "oci"] as const)("has a warning that %s images cannot have it", (imageType) => {
    const [issue] = secureBootIssues({ ...signed, imageType });
    expect(issue?.type).toBe("warning");
    expect(issue?.text).toContain(`which ${imageType} images do not support`);
  });

  it("has an error that removes a kernel that is not signed", () => {
    const unsigned = "linux-image-6.1-amd64-unsigned";
    expect(secureBootIssues({ ...signed, packages: [...signed.packages, { name: unsigned }] })).toMatchObject([
      { type: "error", solution: { type: "remove", package: unsigned } },
    ]);
    const plain = { ...without("shim-signed"), baseSystem: { efiBootLoaders: ["grub-efi"] } };
    expect(secureBootIssues({ ...plain, packages: [...plain.packages, { name: unsigned }] })).toEqual([]);
  });
});

const packages = (...names: string[]) => names.map((name) => ({ name }));

describe("an image with a program that makes unified kernels", () => {
  const unified: BootFacts = {
    arch: "x86_64",
    imageType: "oem",
    baseSystem: { efiBootLoaders: ["grub-efi"], unifiedKernel: ["ukify", "stub"] },
    packages: packages("grub-efi", "ukify", "stub"),
  };
  it.each<[string, Partial<BootFacts>]>([
    ["has the kernel as one program", {}],
    ["has it as a disk for a hypervisor", { imageType: "vmx" }],
    ["has it next to signed boot loaders", { baseSystem: { ...unified.baseSystem, secureBoot: ["stub"] } }],
  ])("%s", (_what, change) => {
    expect(bootOf({ ...unified, ...change }).hasUnifiedKernel).toBe(true);
    expect(unifiedKernelIssues({ ...unified, ...change })).toEqual([]);
  });

  it.each<[string, Partial<BootFacts>, object[]]>([
    ["warns that a medium has none", { imageType: "oemiso" }, [{ type: "warning", text: /not to oemiso images/ }]],
    [
      "warns that BIOS checks nothing, and adds UEFI",
      { packages: packages("ukify", "stub") },
      [{ text: /only by BIOS/, solution: { type: "install", package: "grub-efi" } }],
    ],
    ["has no issue without the program", { packages: packages("grub-efi", "stub") }, []],
    ["has no issue if the base system has none", { baseSystem: { efiBootLoaders: ["grub-efi"] } }, []],
  ])("%s", (_what, change, issues) => {
    expect(bootOf({ ...unified, ...change }).hasUnifiedKernel).toBe(false);
    const expected = issues.map((issue) =>
      "text" in issue ? { ...issue, text: expect.stringMatching(issue.text as RegExp) } : issue,
    );
    expect(unifiedKernelIssues({ ...unified, ...change })).toEqual(expected.map((one) => expect.objectContaining(one)));
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
