import { shownSettingsWith } from "../../../test/support/settings.ts";
import type { AnswerOf } from "../../src/client/client.ts";

/** An appliance as the service shows it: a little of everything. */
export const kiosk: AnswerOf<"getDefinition">["definition"] = {
  id: 1000,
  name: "Kiosk",
  base_system: "tiny-1.0",
  arch: "x86_64",
  version: "0.0.1",
  type: "oem",
  repositories: [{ name: "Tiny Linux 1.0 main" }, { name: "Tools", url: "https://mirror.example.org/tools" }],
  packages: [{ name: "hello" }, { name: "webdemo", version: "2.0", repository: "Tools" }],
  patterns: [{ name: "base" }],
  bans: [],
  configuration: {
    description: "Reads: books\nand papers\n",
    website: "",
    tags: ["no", "1.0"],
    locale: { keyboard_layout: "us", language: "en_US.UTF-8", timezone: { location: "Europe/Vienna" } },
    network: { type: "dhcp", hostname: "" },
    firewall: { enabled: true, open_port: ["ssh", "8080"] },
    users: [
      { uid: 0, name: "root", group: "root", shell: "/bin/sh", homedir: "/root", ssh_keys: [], administrator: false },
    ],
    eulas: [],
    databases: [],
    autostarts: [],
    settings: shownSettingsWith({ memory_size: 512, disk_size: 1, swap_size: 0 }),
    lvm: { enabled: false },
    scripts: {
      build: { enabled: true, script: "#!/bin/sh\necho hi\n" },
      boot: { enabled: false, script: "" },
      autoyast: { enabled: false, script: "" },
    },
    checks: [],
  },
  files: [],
  gpg_keys: [],
};

/** A definition with files of these contents, by their paths in the image. */
export const withFiles = (contents: Record<string, Uint8Array>, digestOf: (bytes: Uint8Array) => string) => ({
  ...kiosk,
  files: Object.entries(contents).map(([path, bytes]) => ({
    path,
    owner: "root",
    group: "root",
    permissions: "644",
    enabled: true,
    size: bytes.byteLength,
    sha256: digestOf(bytes),
  })),
});

/** The software of a plan that can be installed. */
export const effect = {
  state: "solved",
  before: { packages: 19, installed_size: 69_000_000 },
  after: { packages: 20, installed_size: 107_000_000 },
  added: [{ name: "hello", version: "1.1-1" }],
  removed: [],
  problems: [],
};
const changes = [
  { name: "packages", item: "hello", to: "" },
  { name: "bans", item: "vim", from: "" },
  { name: "configuration/settings/memory_size", from: "512", to: "1024" },
  { name: "configuration/users/password", item: "root", to: "another password" },
  { name: "patterns", to: "another order" },
];
/** An answer to a plan of the kiosk. `plan` replaces some of its parts. */
export const planned = (plan: object) => ({ plan: { changes, software: effect, ...plan } });
