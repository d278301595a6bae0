import { describe, expect, it } from "vitest";
import { imageTypes } from "#contract/index";
import { whyNoEfi } from "#domain/builds/builder-abilities";
import { efiBootLoaderOf, firmwareOf, type BootFacts } from "#domain/images/firmware";
import type { Agent } from "#storage/agents";
import { capabilities } from "../support/fake-agent.ts";

const facts: BootFacts = {
  arch: "x86_64",
  imageType: "oem",
  baseSystem: { efiBootLoaders: ["shim", "grub2-x86_64-efi"] },
  packages: [{ name: "grub2" }, { name: "grub2-x86_64-efi" }],
};

describe("firmwareOf", () => {
  it.each<[string, Partial<BootFacts>, string]>([
    ["one of the base system's EFI boot loaders is there", {}, "efi"],
    ["none of them is", { packages: [{ name: "grub2" }] }, "bios"],
    ["the machine has 32 bit", { arch: "i586" }, "bios"],
    ["the catalogue is from before", { baseSystem: {} }, "bios"],
  ])("where %s", (_what, change, firmware) => {
    expect(firmwareOf({ ...facts, ...change })).toBe(firmware);
  });

  it("leaves out what starts from a network", () => {
    expect(imageTypes.filter((imageType) => firmwareOf({ ...facts, imageType }) === "bios")).toEqual(["net"]);
  });

  it("tells which package it is", () => {
    expect(efiBootLoaderOf(facts)).toBe("grub2-x86_64-efi");
  });
});

const agent = (change: object = {}) => ({ capabilities: { ...capabilities, ...change } }) as Agent;

describe("whyNoEfi", () => {
  const wanted = { imageType: "oem", arch: "x86_64", loader: "grub2-x86_64-efi" } as const;

  it.each([
    ["nobody has said anything", [{ capabilities: null } as Agent]],
    ["one can", [agent({ noEfi: { oem: "mkdosfs" } }), agent()]],
    ["it lacks for media only", [agent({ noEfi: { iso: "mcopy" } })]],
    ["none makes such images anyway", [agent({ noEfi: { oem: "mkdosfs" }, imageTypes: ["iso"] })]],
    ["the lack is of something else", [agent({ noLvm: "lvm2" })]],
  ])("is silent where %s", (_what, agents) => {
    expect(whyNoEfi(agents, wanted)).toBeUndefined();
  });

  it("names the package and what is missing", () => {
    expect(whyNoEfi([agent({ noEfi: { oem: "mkdosfs" } }), agent({ noEfi: { oem: "kernel: vfat" } })], wanted)).toMatch(
      /UEFI, for which grub2-x86_64-efi asks\. Missing there: mkdosfs; kernel: vfat\.$/,
    );
  });
});
