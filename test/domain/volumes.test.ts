import { describe, expect, it } from "vitest";
import { needsVolumes, whyNoRoomForVolumes } from "#domain/configuration/volumes";
import { Configuration } from "#lib/configuration/stored";

type Volumes = Configuration["lvm"]["volumes"];

const configured = (diskSizeMb: number, volumes: Volumes) =>
  Configuration.parse({
    locale: { keyboardLayout: "english-us", language: "en_US.UTF-8", timezone: "UTC" },
    users: [],
    settings: { memorySizeMb: 512, diskSizeMb },
    lvm: { enabled: true, volumeGroup: "kioskVG", volumes },
  });
const srv = (sizeMb: number) => ({ path: "/srv", sizeMb });
const opt = (sizeMb: number) => ({ path: "/opt", sizeMb });
const root = (sizeMb: number) => ({ path: "/", sizeMb });

describe("whyNoRoomForVolumes", () => {
  it.each([
    ["a root volume that fills the disk", configured(640, [root(336)]), "bios"],
    ["a root volume of the minimum size, without its own size", configured(640, [srv(304)]), "bios"],
    ["no volumes", configured(334, []), "bios"],
    ["as much as UEFI leaves free", configured(640, [root(100), srv(212)]), "efi"],
  ] as const)("accepts %s", (_what, configuration, firmware) => {
    expect(whyNoRoomForVolumes(configuration, { firmware })).toBeUndefined();
  });

  it.each([
    [
      "the space of /boot",
      configured(640, [root(640)]),
      "bios",
      /^need 640 MB, but a disk of 640 MB has room for 336 MB /,
    ],
    ["only whole extents", configured(640, [root(299), srv(35), opt(1)]), "bios", /^need 340 MB, but .* 336 MB/],
    ["an extra MB as an extent", configured(640, [root(337)]), "bios", /^need 340 MB, but .* 336 MB/],
    ["the root volume", configured(640, [srv(305)]), "bios", /^need 340 MB, 32 MB of it for the root volume, but /],
    ["a disk that /boot fills", configured(64, []), "bios", /has room for 0 MB/],
    ["the partition of a unified kernel", configured(640, [root(80)]), "unified", /^need 80 MB, but .* 76 MB/],
    ["the partitions of UEFI", configured(640, [root(313)]), "efi", /^need 316 MB, but .* 312 MB/],
  ] as const)("counts %s", (_what, configuration, boot, why) => {
    const hasUnifiedKernel = boot === "unified";
    expect(whyNoRoomForVolumes(configuration, { firmware: hasUnifiedKernel ? "efi" : boot, hasUnifiedKernel })).toMatch(
      why,
    );
  });
});

describe("needsVolumes", () => {
  it("is true only for images with a disk", () => {
    const types = ["oem", "vmx", "xen", "ec2", "oemiso", "iso", "net", "oci"] as const;
    const lvm = configured(1024, []);
    expect(types.filter((type) => needsVolumes(lvm, type))).toEqual(["oem", "vmx", "xen", "ec2", "oemiso"]);
  });
});
