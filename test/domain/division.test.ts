import { describe, expect, it } from "vitest";
import { divisionIssues } from "#domain/configuration/division";
import type { Configuration } from "#lib/configuration/stored";
import type { Firmware } from "#lib/contract/index";
import { settingsWith } from "../support/settings.ts";

type Volumes = Configuration["lvm"]["volumes"];

const planned = { imageType: "oem", firmware: "bios", packages: [], softwareMb: 600 } as const;
type Divided = Pick<Configuration, "settings" | "lvm">;
const divided = (volumes: Volumes, settings: Parameters<typeof settingsWith>[0] = {}): Divided => ({
  settings: settingsWith({ diskSizeMb: 2000, ...settings }),
  lvm: { enabled: true, kind: "partitions", volumeGroup: "", volumes },
});
const textsOf = (configuration: Divided, firmware: Firmware = "bios") =>
  divisionIssues(configuration, { ...planned, firmware }).map(({ type, text }) => `${type}: ${text}`);

const home = (sizeMb: number) => ({ path: "/home", sizeMb });

describe("a disk with partitions", () => {
  it("has room for the software that is on the root", () => {
    // 1 MB is before the first partition, and 3 % of the software is in /var.
    expect(textsOf(divided([home(1399)]))).toEqual([]);
    expect(textsOf(divided([home(1399), { path: "/var", sizeMb: 18 }]))).toEqual([]);
    expect(textsOf(divided([home(1400)]))).toEqual([
      "error: The software on the root needs 600 MB, but the partitions leave only 599 MB of a disk of 2000 MB for it.",
    ]);
    expect(textsOf(divided([home(1399)]), "efi")).toEqual([expect.stringContaining("only 577 MB")]);
    expect(textsOf(divided([home(3000)]))).toEqual([expect.stringContaining("only 0 MB")]);
  });

  it("counts swap in a partition, and not in a file", () => {
    const swap = { swapIn: "partition", swapSizeMb: 1400 } as const;
    expect(textsOf(divided([], swap))).toEqual([expect.stringContaining("only 599 MB")]);
    expect(textsOf(divided([], { ...swap, swapSizeMb: 1399 }))).toEqual([]);
    expect(textsOf(divided([], { ...swap, swapIn: "file" }))).toEqual([]);
  });

  it.each([
    [{ path: "/var", sizeMb: 17 }, "error: The software needs about 18 MB in /var, a partition of only 17 MB."],
    [{ path: "/usr", sizeMb: 599 }, "error: The software needs about 600 MB in /usr, a partition of only 599 MB."],
  ])("refuses a directory that does not hold its part of the software: %j", (volume, text) => {
    expect(textsOf(divided([volume]))).toEqual([text]);
    const { lvm, settings } = divided([volume]);
    expect(textsOf({ settings, lvm: { ...lvm, kind: "lvm", volumeGroup: "vg" } })).toEqual([text]);
  });

  it("has at most four of them by BIOS", () => {
    const three = ["/home", "/srv", "/opt"].map((path) => ({ path, sizeMb: 10 }));
    const swap = { swapIn: "partition", swapSizeMb: 10 } as const;
    expect(textsOf(divided(three))).toEqual([]);
    expect(textsOf(divided(three, swap))).toEqual([
      "error: A disk that boots with BIOS has at most 4 partitions, and this one would have 5.",
    ]);
    expect(textsOf(divided(three, swap), "efi")).toEqual([]);
  });

  it("is only that of an image with a disk", () => {
    expect(divisionIssues(divided([home(9000)]), { ...planned, imageType: "iso" })).toEqual([]);
    const off = divided([home(9000)]);
    expect(divisionIssues({ ...off, lvm: { ...off.lvm, enabled: false } }, planned)).toEqual([]);
  });
});
