import { describe, expect, it } from "vitest";
import type { Capabilities } from "#lib/contract/index";
import { whyNoVolumes } from "#domain/builds/builder-abilities";
import { configurationIssues } from "#domain/configuration/issues";
import { Configuration } from "#lib/configuration/stored";
import { sshKeys } from "../support/ssh-keys.ts";
import { capabilities } from "../support/fake-agent.ts";

const image = (...names: string[]) => ({
  imageType: "oem" as const,
  firmware: "bios" as const,
  softwareMb: 100,
  packages: names.map((name) => ({ name, arch: name.endsWith("32") ? "i586" : "x86_64" })),
});
/** The required fields; the rest are defaults. */
const required = {
  locale: { keyboardLayout: "english-us", language: "en_US.UTF-8", timezone: "UTC" },
  users: [],
  settings: { memorySizeMb: 512, diskSizeMb: 1024 },
};
const configured = (change: object) => Configuration.parse({ ...required, ...change });
const settings = (change: object) => configured({ settings: { ...configured({}).settings, ...change } });
const textsOf = (configuration: Configuration, planned: Parameters<typeof configurationIssues>[1]) =>
  configurationIssues(configuration, planned).map(({ type, text }) => `${type}: ${text}`);

const clerk = (access: object) => ({
  uid: 1000,
  name: "clerk",
  password: "p",
  group: "users",
  shell: "/bin/sh",
  homedir: "/home/clerk",
  ...access,
});
const lvm = configured({ lvm: { enabled: true, volumeGroup: "kioskVG", volumes: [] } });
const firewall = configured({ firewall: { enabled: true, openPorts: ["ssh", "http"] } });
const database = configured({ databases: [{ type: "pgsql", users: [] }] });

describe("configurationIssues", () => {
  it.each([
    ["LVM", lvm, "lvm2"],
    ["the firewall", firewall, "firewalld"],
    ["the firewall", firewall, "SuSEfirewall2"],
    ["the firewall", firewall, "nftables"],
    ["PAE", settings({ paeEnabled: true }), "kernel-pae32"],
    ["Xen", settings({ xenHostModeEnabled: true }), "xen"],
    ["PostgreSQL", database, "postgresql15-server"],
    ["PostgreSQL of Debian", database, "postgresql-15"],
    ["administrators", configured({ users: [clerk({ administrator: true })] }), "sudo"],
    ["SSH keys", configured({ users: [clerk({ sshKeys: [sshKeys.ed25519] })] }), "openssh-server"],
    ["MySQL", configured({ databases: [{ type: "mysql", users: [] }] }), "mariadb"],
  ])("warns of %s if its program is missing, and not otherwise (%#)", (_what, configuration, program) => {
    expect(textsOf(configuration, image("busybox"))).toEqual([expect.stringMatching(/^warning: /)]);
    expect(textsOf(configuration, image("busybox", program))).toEqual([]);
  });

  it("warns of PostgreSQL if only its client is there", () => {
    expect(textsOf(database, image("postgresql", "postgresql-client-15"))).toHaveLength(1);
  });

  it("explains that a 32-bit image lacks a kernel with PAE", () => {
    const pae = settings({ paeEnabled: true });
    expect(textsOf(pae, image("busybox"))[0]).toContain("has no effect");
    expect(textsOf(pae, image("busybox32"))[0]).toContain("no kernel with it");
  });

  it("warns of an image that no one could log in to", () => {
    const keyOnly = clerk({ sshKeys: [sshKeys.ed25519], password: "" });
    expect(textsOf(configured({ users: [keyOnly] }), image("busybox"))[0]).toContain("no one could log in");
    const withRoot = [keyOnly, { ...keyOnly, name: "root", uid: 0, password: "p" }];
    expect(textsOf(configured({ users: withRoot }), image("busybox"))[0]).toContain("could log in with them");
  });

  it("offers to install lvm2", () => {
    expect(configurationIssues(lvm, image())[0]?.solution).toEqual({ type: "install", package: "lvm2" });
  });

  it("does not warn of a new appliance's defaults", () => {
    expect(textsOf(configured({}), image("busybox"))).toEqual([]);
  });

  it("reports volumes too large for UEFI, on disk images only", () => {
    // 1024 - 302 MB, in whole extents; UEFI takes 23 MB more.
    const full = { ...lvm, lvm: { ...lvm.lvm, volumes: [{ path: "/", sizeMb: 720 }] } };
    const efi = { ...image("lvm2"), firmware: "efi" as const };
    expect(textsOf(full, image("lvm2"))).toEqual([]);
    expect(textsOf(full, efi)).toEqual([
      "error: The volumes (LVM) need 720 MB, but a disk of 1024 MB has room for 696 MB of volumes: /boot and the partition table take the rest.",
    ]);
    expect(textsOf(full, { ...efi, imageType: "iso" as const })).toEqual([]);
  });

  it("warns of software larger than the root volume", () => {
    const volumes = [{ path: "/srv", sizeMb: 500 }];
    const rest = { ...lvm, lvm: { ...lvm.lvm, volumes } };
    const sized = { ...lvm, lvm: { ...lvm.lvm, volumes: [...volumes, { path: "/", sizeMb: 90 }] } };
    const planned = image("lvm2");
    expect(textsOf(sized, planned)).toEqual([
      expect.stringMatching(/^warning: The software needs 100 MB, but the root volume \(LVM\) has only 90 MB: /),
    ]);
    // 720 - 500
    expect(textsOf(rest, { ...planned, softwareMb: 220 })).toEqual([]);
    expect(textsOf(rest, { ...planned, softwareMb: 221 })).toEqual([expect.stringContaining("only 220 MB")]);
  });
});

const agent = (change: object = {}): Capabilities => ({ ...capabilities, ...change });

describe("whyNoVolumes", () => {
  const wanted = { imageType: "oem", arch: "x86_64", packageType: "rpm" } as const;

  it.each([
    ["no builder has reported its capabilities", [], undefined],
    ["one builder supports volumes", [agent({ noLvm: "lvm2" }), agent()], undefined],
    ["no builder supports the image type", [agent({ noLvm: "lvm2", imageTypes: ["iso"] })], undefined],
    [
      "no builder supports volumes",
      [agent({ noLvm: "lvm2" }), agent({ noLvm: "kernel: dm_mod" }), agent({ noLvm: "lvm2" })],
      /lvm2; kernel: dm_mod\.$/,
    ],
    [
      "only builders of other architectures support volumes",
      [agent({ noLvm: "lvm2" }), agent({ arches: ["i586"] })],
      /lack: lvm2\.$/,
    ],
  ])("gives the right answer if %s", (_what, agents, expected) => {
    const why = whyNoVolumes(agents, wanted);
    if (expected === undefined) expect(why).toBeUndefined();
    else expect(why).toMatch(expected);
  });
});
