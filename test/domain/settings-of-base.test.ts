import { describe, expect, it } from "vitest";
import { updatesIssues } from "#domain/configuration/automatic-updates";
import { packagesOfSettings, type SettingOfBase, settingsOfBaseIssues } from "#domain/configuration/settings-of-base";
import { imageTypes } from "#lib/contract/index";
import type { BaseSystemFacts } from "#model/catalogue";

const none = { firstBoot: "none", automaticUpdates: "none", diskEncryption: "none", fileSystem: "ext4" } as const;
const cloudInit = { ...none, firstBoot: "cloud-init" } as const;
const security = { ...none, automaticUpdates: "security" } as const;
const passphrase = { ...none, diskEncryption: "passphrase" } as const;
const xfs = { ...none, fileSystem: "xfs" } as const;
const oem = { imageType: "oem" } as const;

const onlyDisks = "because only a disk that boots as it was built can encrypt itself.";

const tiny: Pick<BaseSystemFacts, "title" | SettingOfBase> = { title: "Tiny Linux" };
const debian = {
  title: "Debian 12",
  firstBoot: { "cloud-init": ["cloud-init", "sudo"], ignition: ["ignition"] },
  automaticUpdates: { security: ["unattended-upgrades"] },
  diskEncryption: { passphrase: ["cryptsetup-bin"] },
  fileSystem: { xfs: ["xfsprogs"] },
};

describe("a setting that needs packages of the base system", () => {
  it.each([
    [none, []],
    [cloudInit, ["cloud-init", "sudo"]],
    [security, ["unattended-upgrades"]],
    [passphrase, ["cryptsetup-bin"]],
    [xfs, ["xfsprogs"]],
    [{ ...security, firstBoot: "cloud-init" } as const, ["cloud-init", "sudo", "unattended-upgrades"]],
  ])("adds them to the image: %j", (settings, packages) => {
    expect(packagesOfSettings(debian, { ...oem, settings })).toEqual(packages);
    expect(settingsOfBaseIssues({ ...oem, settings, baseSystem: debian })).toEqual([]);
  });

  it.each([
    [
      cloudInit,
      "first_boot",
      "The first boot must be none, because Kiln knows no packages of Tiny Linux for cloud-init.",
    ],
    [
      security,
      "automatic_updates",
      "Automatic updates must be none, because Kiln knows no packages of Tiny Linux for automatic updates.",
    ],
    [
      passphrase,
      "disk_encryption",
      "Encryption of the disk must be none, because Kiln knows no packages of Tiny Linux for disk encryption.",
    ],
    [xfs, "file_system", "The file system must be ext4, because Kiln knows no packages of Tiny Linux for xfs."],
  ])("is an error without them, with a button that does without: %j", (settings, name, text) => {
    const setting = {
      path: `settings/${name}`,
      value: name === "file_system" ? "ext4" : "none",
      words: expect.stringMatching(/^Use no /),
    };
    const issues = settingsOfBaseIssues({ imageType: "iso", settings, baseSystem: tiny });
    expect(issues).toEqual([{ type: "error", text, setting }]);
    expect(packagesOfSettings(tiny, { ...oem, settings })).toEqual([]);
  });

  it("is an error for a choice that only another base system has", () => {
    const settings = { ...none, automaticUpdates: "all" } as const;
    expect(settingsOfBaseIssues({ ...oem, settings, baseSystem: debian })).toMatchObject([{ type: "error" }]);
  });

  it("is no problem if nothing is chosen, or if no catalogue has the base system now", () => {
    expect(settingsOfBaseIssues({ ...oem, settings: none, baseSystem: tiny })).toEqual([]);
    expect(settingsOfBaseIssues({ ...oem, settings: cloudInit, baseSystem: undefined })).toEqual([]);
  });

  it.each([
    ["iso", cloudInit, "An image of the type iso gets no cloud-init, because it has no first boot."],
    [
      "ec2",
      { ...none, firstBoot: "ignition" },
      "An image of the type ec2 gets no ignition, because Ignition was tried only on disks for QEMU.",
    ],
    ["net", security, "An image of the type net gets no automatic updates, because it has no disk that keeps them."],
    ["oci", security, "An image of the type oci gets no automatic updates, because it has no disk that keeps them."],
    ["oemiso", passphrase, `An image of the type oemiso gets no disk encryption, ${onlyDisks}`],
    [
      "oemiso",
      xfs,
      "An image of the type oemiso gets no xfs, because only a disk that boots as it was built can have it.",
    ],
    ["iso", passphrase, `An image of the type iso gets no disk encryption, ${onlyDisks}`],
    ["wsl", passphrase, `An image of the type wsl gets no disk encryption, ${onlyDisks}`],
  ] as const)("leaves an image of the type %s as it is, and says so", (imageType, settings, text) => {
    expect(settingsOfBaseIssues({ imageType, settings, baseSystem: debian })).toEqual([{ type: "warning", text }]);
    expect(packagesOfSettings(debian, { imageType, settings })).toEqual([]);
  });
});

const repositories = (...purposes: ("updates" | "security" | null)[]) => purposes.map((purpose) => ({ purpose }));

describe("updatesIssues", () => {
  it("warns if no repository brings security updates", () => {
    for (const some of [repositories(), repositories(null, "updates")]) {
      expect(updatesIssues({ ...oem, settings: security, repositories: some })).toMatchObject([{ type: "warning" }]);
    }
    expect(updatesIssues({ ...oem, settings: security, repositories: repositories(null, "security") })).toEqual([]);
  });

  it("accepts every repository if all updates are chosen, and needs none without the choice", () => {
    const all = { ...none, automaticUpdates: "all" } as const;
    expect(updatesIssues({ ...oem, settings: all, repositories: repositories(null) })).toEqual([]);
    for (const imageType of imageTypes) {
      expect(updatesIssues({ imageType, settings: none, repositories: [] })).toEqual([]);
    }
  });
});
