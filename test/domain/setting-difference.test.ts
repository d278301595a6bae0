import { describe, expect, it } from "vitest";
import type { FrozenConfiguration, FrozenInput } from "#lib/contract/index";
import { settingDifference } from "#domain/difference/settings";
import { descriptionFiles } from "#lib/kiwi/description-files";
import type { ImageFacts } from "#lib/kiwi/facts";
import { plain } from "../kiwi/support/facts.ts";
import { sshKeys } from "../support/ssh-keys.ts";

const configuration: FrozenConfiguration = {
  baseSystem: "tiny-1.0",
  estimatedRawMb: 70,
  locale: { language: "en_US.UTF-8", keyboardLayout: "english-us", timezone: "UTC" },
  runlevel: 3,
  network: { type: "dhcp", hostname: "kiosk", ip: "", netmask: "", route: "", nameservers: [] },
  firewall: { enabled: true, openPorts: ["ssh"] },
  webyast: false,
  memoryMb: 512,
};

const input: FrozenInput = {
  formatVersion: 1,
  appliance: { id: 1, name: "Kiosk", version: "0.0.1", arch: "x86_64" },
  imageType: "oem",
  imageName: "Kiosk.x86_64-0.0.1.oem",
  repositories: [{ alias: "r1", id: 1, name: "Main", url: "https://secret:word@mirror.example.org" }],
  packages: [],
  selection: { packages: [{ name: "hello" }], patterns: ["base"] },
  description: {},
  files: [],
  keys: [],
  configuration,
  writtenBy: "kiln",
};

const clerk = {
  uid: 1000,
  name: "clerk",
  passwordHash: "$6$salt$hash",
  group: "users",
  shell: "/bin/sh",
  homedir: "/home/clerk",
  sshKeys: [] as string[],
  administrator: false,
};

const configured = (change: Partial<FrozenConfiguration>): FrozenInput => ({
  ...input,
  configuration: { ...configuration, ...change },
});

const file = (mode: number, sha256: string) => ({
  path: "/etc/motd",
  mode,
  owner: "root",
  group: "root",
  size: 5,
  sha256,
  blobId: crypto.randomUUID(),
});

describe("the settings of two builds", () => {
  it.each<[string, FrozenInput, FrozenInput, ReturnType<typeof settingDifference>]>([
    ["the same settings", input, structuredClone(input), []],
    ["only another version", input, { ...input, appliance: { ...input.appliance, version: "0.0.2" } }, []],
    ["another image type", input, { ...input, imageType: "iso" }, [{ name: "image_type", from: "oem", to: "iso" }]],
    [
      "another hostname",
      input,
      configured({ network: { ...configuration.network, hostname: "desk" } }),
      [{ name: "hostname", from: "kiosk", to: "desk" }],
    ],
    [
      "an added address",
      input,
      configured({ network: { ...configuration.network, ip: "10.0.0.2" } }),
      [{ name: "ip", to: "10.0.0.2" }],
    ],
    [
      "ports",
      input,
      configured({ firewall: { enabled: false, openPorts: ["http"] } }),
      [
        { name: "firewall", from: "on", to: "off" },
        { name: "open_port", item: "ssh", from: "open" },
        { name: "open_port", item: "http", to: "open" },
      ],
    ],
    [
      "the selection",
      input,
      { ...input, selection: { packages: [{ name: "hello", version: "1.0" }, { name: "nano" }], patterns: [] } },
      [
        { name: "selected_pattern", item: "base", from: "selected" },
        { name: "selected_package", item: "hello", from: "newest", to: "1.0" },
        { name: "selected_package", item: "nano", to: "newest" },
      ],
    ],
    [
      "an overlay file's mode",
      { ...input, files: [file(0o644, "a")] },
      { ...input, files: [file(0o600, "a")] },
      [
        {
          name: "overlay_file",
          item: "/etc/motd",
          from: "644 root:root, 5 bytes, sha256 a",
          to: "600 root:root, 5 bytes, sha256 a",
        },
      ],
    ],
    [
      "a key",
      input,
      { ...input, keys: [{ name: "Tiny", fingerprint: "ab", armour: "…" }] },
      [{ name: "gpg_key", item: "Tiny", to: "ab" }],
    ],
    [
      "a repository by its name",
      input,
      { ...input, repositories: [] },
      [{ name: "repository", item: "Main", from: "used" }],
    ],
    ["a configuration that one side lacks", input, { ...input, configuration: undefined }, []],
    ["a memory size that one side lacks", input, configured({ memoryMb: undefined }), []],
  ])("compares %s", (_what, from, to, expected) => {
    expect(settingDifference(from, to)).toEqual(expected);
  });

  it("are users, their rights and their keys, without the keys and passwords themselves", () => {
    const described = (users: ImageFacts["users"]): FrozenInput => ({
      ...input,
      description: descriptionFiles({ ...plain, users }),
    });
    const user = { ...clerk, sshKeys: [sshKeys.ed25519] };
    const [none, before, after] = [
      described([]),
      described([user]),
      described([{ ...user, sshKeys: [sshKeys.rsa2048] }]),
    ];
    const differences = [
      settingDifference(none, before),
      settingDifference(before, described([{ ...clerk, administrator: true }])),
      settingDifference(before, after),
      settingDifference(before, none),
      settingDifference(input, before),
    ];
    expect(differences).toEqual([
      [
        { name: "user", item: "clerk", to: "ordinary user" },
        { name: "ssh_keys", item: "clerk", to: "1 key" },
      ],
      [
        { name: "user", item: "clerk", from: "ordinary user", to: "administrator" },
        { name: "ssh_keys", item: "clerk", from: "1 key" },
      ],
      [{ name: "ssh_keys", item: "clerk", from: "1 key", to: "1 different key" }],
      [
        { name: "user", item: "clerk", from: "ordinary user" },
        { name: "ssh_keys", item: "clerk", from: "1 key" },
      ],
      [],
    ]);
    expect(settingDifference(before, described([{ ...user, passwordHash: "$6$other$hash" }]))).toEqual([]);
  });

  it("report that a script changed, without its text", () => {
    const [first, second] = ["token=one", "token=two"].map((buildScript) => configured({ buildScript }));
    if (!first || !second) throw new Error("two inputs were made");
    expect(settingDifference(input, first)).toEqual([{ name: "build_script", to: "a script" }]);
    expect(settingDifference(first, second)).toEqual([
      { name: "build_script", from: "a script", to: "a different script" },
    ]);
    expect(settingDifference(first, input)).toEqual([{ name: "build_script", from: "a script" }]);
    expect(settingDifference(first, first)).toEqual([]);
  });
});
