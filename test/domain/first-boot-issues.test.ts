import { describe, expect, it } from "vitest";
import { firstBootIssues, ignitionIssues } from "#domain/configuration/first-boot";
import { configurationIssues } from "#domain/configuration/issues";
import { Configuration } from "#lib/configuration/stored";
import { sshKeys } from "../support/ssh-keys.ts";

const required = {
  locale: { keyboardLayout: "english-us", language: "en_US.UTF-8", timezone: "UTC" },
  users: [],
  settings: { memorySizeMb: 512, diskSizeMb: 1024, firstBoot: "cloud-init" },
};
const configured = (change: object = {}) => Configuration.parse({ ...required, ...change });
const oem = { imageType: "oem" } as const;
const withNetwork = (type: string) =>
  configured({ network: { type, hostname: "", ip: "192.0.2.1", netmask: "24", route: "", nameservers: [] } });

const planned = (...names: string[]) => ({
  imageType: "oem" as const,
  firmware: "bios" as const,
  softwareMb: 100,
  packages: names.map((name) => ({ name, arch: "x86_64" })),
});
const people = (change: object) =>
  configured({
    users: [{ uid: 0, name: "root", password: "", group: "root", shell: "/bin/sh", homedir: "/root", ...change }],
  });

describe("firstBootIssues", () => {
  it("has nothing to say of a disk with DHCP", () => {
    expect(firstBootIssues(configured(), oem)).toEqual([]);
  });

  it.each(["manual", "ask_on_first_boot"])("offers DHCP if the appliance's network is %s", (type) => {
    const [issue] = firstBootIssues(withNetwork(type), oem);
    expect(issue).toMatchObject({ type: "warning", setting: { path: "network/type", value: "dhcp" } });
  });

  it.each(["dhcp", "none", "network_manager"])("accepts the network %s", (type) => {
    expect(firstBootIssues(withNetwork(type), oem)).toEqual([]);
  });

  it("warns that volumes do not grow", () => {
    const lvm = configured({ lvm: { enabled: true, volumeGroup: "vg", volumes: [] } });
    expect(firstBootIssues(lvm, oem).map(({ text }) => text)).toEqual([expect.stringContaining("(LVM)")]);
  });

  it.each(["iso", "net", "oci"] as const)("has nothing to say of an image of the type %s", (imageType) => {
    expect(firstBootIssues(withNetwork("manual"), { imageType })).toEqual([]);
  });
});

const ignition = (change: object = {}) =>
  configured({ settings: { ...required.settings, firstBoot: "ignition", ...change } });

const textsOf = (change: object, image: object = {}) =>
  ignitionIssues(ignition(change), { ...oem, ...image }).map(({ type, text }) => `${type}: ${text}`);

describe("ignitionIssues", () => {
  it("has nothing to say of a disk for QEMU", () => {
    expect(textsOf({})).toEqual([]);
  });

  it("refuses a kernel that starts without GRUB, and an encrypted disk", () => {
    const refused = /^error: Ignition cannot configure the machine, because /;
    expect(textsOf({}, { hasUnifiedKernel: true })).toEqual([expect.stringMatching(refused)]);
    expect(textsOf({ diskEncryption: "passphrase" })).toEqual([expect.stringMatching(refused)]);
  });

  it("has nothing to say where Ignition has no effect", () => {
    expect(textsOf({ diskEncryption: "passphrase" }, { imageType: "ec2" })).toEqual([]);
  });
});

describe("configurationIssues", () => {
  it("warns if cloud-init would bring keys to an image without an SSH server, once", () => {
    const solution = { type: "install", package: "openssh-server" };
    for (const one of [people({}), people({ sshKeys: [sshKeys.ed25519] })]) {
      expect(configurationIssues(one, planned("cloud-init"))).toEqual([expect.objectContaining({ solution })]);
      expect(configurationIssues(one, planned("cloud-init", "openssh-server"))).toEqual([]);
    }
  });
});
