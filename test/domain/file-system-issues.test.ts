import { describe, expect, it } from "vitest";
import { fileSystemIssues } from "#domain/configuration/file-system";
import { fileSystems, imageTypes } from "#lib/contract/index";
import { settingsWith } from "../support/settings.ts";

const plain = { enabled: false, kind: "lvm" as const, volumeGroup: "vg", volumes: [] };
const oem = { imageType: "oem", firmware: "bios" } as const;
const issuesOf = (settings: Parameters<typeof settingsWith>[0], image: Parameters<typeof fileSystemIssues>[1] = oem) =>
  fileSystemIssues({ settings: settingsWith(settings), lvm: plain }, image);

describe("fileSystemIssues", () => {
  it("has nothing to report of a disk that is large enough", () => {
    for (const fileSystem of fileSystems) expect(issuesOf({ fileSystem, diskSizeMb: 700 })).toEqual([]);
  });

  it.each([
    ["xfs", 300, "bios", "A root with xfs needs 300 MB, but a disk of 300 MB has only 299 MB for it."],
    ["xfs", 100, "efi", "A root with xfs needs 300 MB, but a disk of 100 MB has only 76 MB for it."],
    ["btrfs", 64, "bios", "A root with btrfs needs 109 MB, but a disk of 64 MB has only 63 MB for it."],
  ] as const)(
    "refuses %s on a disk of %d MB (%s), with a button that uses ext4",
    (fileSystem, diskSizeMb, firmware, text) => {
      expect(issuesOf({ fileSystem, diskSizeMb }, { ...oem, firmware })).toEqual([
        { type: "error", text, setting: { path: "settings/file_system", value: "ext4", words: "Use ext4" } },
      ]);
      expect(issuesOf({ fileSystem: "ext4", diskSizeMb }, { ...oem, firmware })).toEqual([]);
    },
  );

  it("refuses what was never tried together: encryption and volumes", () => {
    for (const fileSystem of ["xfs", "btrfs"] as const) {
      const settings = settingsWith({ fileSystem, diskEncryption: "passphrase" });
      const issues = fileSystemIssues({ settings, lvm: { ...plain, enabled: true } }, oem);
      expect(issues.map(({ type, text }) => `${type} ${text}`)).toEqual([
        expect.stringMatching(/^error Disk encryption is on, /),
        expect.stringMatching(/^error The disk has volumes /),
      ]);
    }
  });

  it("refuses partitions that are smaller than the file system can be", () => {
    const lvm = { ...plain, enabled: true, kind: "partitions" as const, volumes: [{ path: "/home", sizeMb: 299 }] };
    const issues = fileSystemIssues({ settings: settingsWith({ fileSystem: "xfs", diskSizeMb: 4000 }), lvm }, oem);
    expect(issues.map(({ text }) => text)).toEqual(["A partition with xfs needs 300 MB, but /home has only 299 MB."]);
  });

  it("is only about types that have the file system", () => {
    const settings = { fileSystem: "xfs", diskSizeMb: 100 } as const;
    const affected = imageTypes.filter((imageType) => issuesOf(settings, { ...oem, imageType }).length > 0);
    expect(affected).toContain("qcow2");
    for (const other of ["iso", "oemiso", "net", "oci", "wsl"]) expect(affected).not.toContain(other);
  });
});
