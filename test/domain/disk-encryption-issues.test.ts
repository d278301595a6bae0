import { describe, expect, it } from "vitest";
import { diskEncryptionIssues } from "#domain/configuration/disk-encryption";
import { imageTypes } from "#lib/contract/index";
import { Configuration } from "#lib/configuration/stored";

const configured = (diskEncryption: string, change: object = {}) =>
  Configuration.parse({
    locale: { keyboardLayout: "english-us", language: "en_US.UTF-8", timezone: "UTC" },
    users: [],
    settings: { memorySizeMb: 512, diskSizeMb: 1024, diskEncryption },
    ...change,
  });
const lvm = { enabled: true, volumeGroup: "vg", volumes: [] };
const aCheck = { checks: [{ kind: "login", text: "", port: 0, path: "", status: 0, seconds: 300 }] };

describe("diskEncryptionIssues", () => {
  it("has nothing to say of a disk, or without the choice", () => {
    expect(diskEncryptionIssues(configured("passphrase"), { imageType: "oem" })).toEqual([]);
    for (const imageType of imageTypes)
      expect(diskEncryptionIssues(configured("none", { lvm, ...aCheck }), { imageType })).toEqual([]);
  });

  it("refuses volumes, with a button that does without encryption", () => {
    const [issue, ...others] = diskEncryptionIssues(configured("passphrase", { lvm }), { imageType: "qcow2" });
    expect(issue).toMatchObject({ type: "error", setting: { path: "settings/disk_encryption", value: "none" } });
    expect(issue?.text).toContain("(LVM)");
    expect(others).toEqual([]);
  });

  it("refuses partitions, and swap in one, which would stay plain", () => {
    const partitions = { ...lvm, kind: "partitions", volumes: [{ path: "/home", sizeMb: 100 }] };
    const settings = { ...configured("passphrase").settings, swapIn: "partition" };
    const issues = diskEncryptionIssues(configured("passphrase", { lvm: partitions, settings }), { imageType: "oem" });
    expect(issues.map(({ type, setting }) => [type, setting?.path])).toEqual([
      ["error", "settings/disk_encryption"],
      ["error", "settings/swap_in"],
    ]);
  });

  it.each(["ec2", "gce", "vhd"] as const)("warns that nobody may type the passphrase of the type %s", (imageType) => {
    const issues = diskEncryptionIssues(configured("passphrase"), { imageType });
    expect(issues).toMatchObject([{ type: "warning", text: expect.stringContaining("types the passphrase") }]);
  });

  it("warns that no one answers while the image is checked", () => {
    const issues = diskEncryptionIssues(configured("passphrase", aCheck), { imageType: "oem" });
    expect(issues).toMatchObject([{ type: "warning", text: expect.stringContaining("no one answers") }]);
  });

  it("warns of a cloud that may keep the recovery key", () => {
    const issues = diskEncryptionIssues(configured("tpm"), { imageType: "ec2" });
    expect(issues).toMatchObject([{ type: "warning", text: expect.stringContaining("recovery key") }]);
  });

  it("warns that an automatic update changes what the TPM knows", () => {
    const settings = { memorySizeMb: 512, diskSizeMb: 1024, diskEncryption: "tpm", automaticUpdates: "security" };
    const issues = diskEncryptionIssues(configured("tpm", { settings }), { imageType: "oem" });
    expect(issues).toMatchObject([{ type: "warning", setting: { path: "settings/automatic_updates", value: "none" } }]);
  });

  const tangServer = "http://tang.example.org";
  const tangThumbprint = "x".repeat(43);
  const served = (change: object = {}, settings: object = { tangServer, tangThumbprint }) =>
    configured("tang", {
      ...change,
      settings: { memorySizeMb: 512, diskSizeMb: 1024, diskEncryption: "tang", ...settings },
    });

  it("refuses a key server without an address or without a thumbprint", () => {
    expect(diskEncryptionIssues(served(), { imageType: "oem" })).toEqual([]);
    for (const settings of [{ tangServer }, { tangThumbprint }]) {
      const issues = diskEncryptionIssues(served({}, settings), { imageType: "oem" });
      expect(issues).toMatchObject([{ type: "error", text: expect.stringContaining("is missing") }]);
    }
  });

  it("warns that a machine asks its key server with an address by DHCP", () => {
    const network = { type: "manual", ip: "192.0.2.20" };
    const issues = diskEncryptionIssues(served({ network }), { imageType: "oem" });
    expect(issues).toMatchObject([{ type: "warning", text: expect.stringContaining("DHCP") }]);
  });

  it("warns that a testdrive reaches no key server, and of a cloud that may keep the recovery key", () => {
    const issues = diskEncryptionIssues(served(aCheck), { imageType: "gce" });
    expect(issues.map(({ text }) => text)).toEqual([
      expect.stringContaining("Without its key server"),
      expect.stringContaining("no one answers"),
    ]);
  });

  it("expects nobody to answer for a TPM", () => {
    expect(diskEncryptionIssues(configured("tpm", aCheck), { imageType: "oem" })).toEqual([]);
  });
});
