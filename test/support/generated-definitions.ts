import { sshKeys } from "./ssh-keys.ts";
import { createHash } from "node:crypto";
import type { Definition } from "../../cli/src/appliance-file/write.ts";
import * as fc from "./properties.ts";
import { shownSettingsWith } from "./settings.ts";

/** The objects that a generated definition may refer to. */
interface Known {
  /** As definitions show them. */
  repositories: Definition["repositories"];
  keys: Definition["gpg_keys"];
}

interface Generated {
  definition: Definition;
  contents: Map<string, Uint8Array>;
}

const line = (max: number) =>
  fc
    .array(fc.constantFrom(..."abcXYZ019 :#-_'\"{}[],&*!|>%@`~?é👍"), { maxLength: max })
    .map((letters) => letters.join("").slice(0, max).trim())
    .filter((text) => text.isWellFormed());
const someLine = (max: number) => line(max).map((text) => text || "x");
const text = fc
  .array(fc.oneof(line(20), fc.constantFrom("", "  indented", "\ttab", "trailing ", "---", "# no comment")), {
    maxLength: 6,
  })
  .map((lines) => lines.join("\n"))
  .filter((all) => all === "" || all.trim() !== "");
const word = fc.stringMatching(/^[a-z][a-z0-9]{0,7}$/);
const path = fc.array(word, { minLength: 1, maxLength: 3 }).map((parts) => `/${parts.join("/")}`);
const unique = <T>(of: fc.Arbitrary<T>, key: (one: T) => unknown, max = 4) =>
  fc.uniqueArray(of, { selector: key, maxLength: max });

const choice = (repositories: Definition["repositories"]) =>
  fc.record(
    {
      name: fc.stringMatching(/^[a-z][a-z0-9.+-]{0,10}$/),
      version: fc.constantFrom("1.0", "2", "1:1.0-1", "1e3"),
      repository: fc.constantFrom(...pinsOf(repositories)),
    },
    { requiredKeys: ["name"] },
  );

/** Values that pin a package to one of these repositories. If two repositories have the same name, it is ambiguous. */
function pinsOf(repositories: Definition["repositories"]): string[] {
  const names = repositories.map(({ name }) => name);
  return repositories.flatMap(({ name, url, uploads }) => {
    if (uploads) return ["uploads"];
    return names.filter((one) => one === name).length > 1 ? (url ?? []) : (name ?? []);
  });
}

const user = fc.record({
  name: word,
  group: word,
  shell: fc.constantFrom("/bin/sh", "/bin/bash"),
  homedir: path,
  ssh_keys: fc.subarray([sshKeys.ed25519, sshKeys.ecdsa]),
  administrator: fc.boolean(),
});

const check = fc.oneof(
  fc.record({ kind: fc.constant("login" as const), seconds: fc.integer({ min: 1, max: 1200 }) }),
  fc.record({ kind: fc.constant("port_closed" as const), port: fc.integer({ min: 1, max: 65_535 }) }),
  fc.record({ kind: fc.constant("console_lacks" as const), text: someLine(20) }),
);

const configuration: fc.Arbitrary<Definition["configuration"]> = fc
  .record({
    description: text,
    website: fc.constantFrom("", "https://kiln.example.org/a#b"),
    tags: fc.array(someLine(8), { maxLength: 3 }),
    eulas: fc.array(
      text.filter((one) => one.trim() !== ""),
      { maxLength: 2 },
    ),
    users: unique(
      user.filter(({ name }) => name !== "root"),
      ({ name }) => name,
    ),
    isManual: fc.boolean(),
    ports: fc.array(fc.constantFrom("ssh", "8080", "53/udp"), { maxLength: 2 }),
    script: text.map((one) => one.trimStart()),
    autostarts: fc.array(fc.record({ command: someLine(20), description: line(8), enabled: fc.boolean() }), {
      maxLength: 2,
    }),
    databases: unique(
      fc.record({ username: word, database_list: fc.constantFrom("", "one", "one,two") }),
      (one) => one.username,
    ),
    volumes: unique(
      fc.record({ size: fc.integer({ min: 1, max: 9999 }), path: path.map((one) => `/srv${one}`) }),
      (one) => one.path,
    ),
    hasVolumes: fc.boolean(),
    memory: fc.integer({ min: 64, max: 65_536 }),
    isOn: fc.boolean(),
    checks: fc.array(check, { maxLength: 3 }),
  })
  .map((one) => ({
    description: one.description,
    website: one.website,
    tags: one.tags,
    locale: { keyboard_layout: "english-uk", language: "en_GB.UTF-8", timezone: { location: "Europe/London" } },
    network: one.isManual
      ? { type: "manual", hostname: "", ip: "10.0.0.2", netmask: "24", route: "", nameservers: "10.0.0.1, 10.0.0.3" }
      : { type: "dhcp", hostname: one.isOn ? "desk" : "" },
    firewall: { enabled: one.isOn, open_port: one.ports },
    users: [
      {
        uid: 0,
        name: "root",
        group: "root",
        shell: "/bin/sh",
        homedir: "/root",
        ssh_keys: [sshKeys.rsa2048],
        administrator: false,
      },
      ...one.users.map((user, at) => ({ uid: 1000 + at, ...user })),
    ],
    eulas: one.eulas,
    databases: one.databases.length > 0 ? [{ type: "pgsql", users: one.databases }] : [],
    autostarts: one.autostarts.map((start) => ({ ...start, user: "root" })),
    settings: shownSettingsWith<Definition["configuration"]["settings"]>({
      memory_size: one.memory,
      disk_size: 4,
      swap_size: 0,
      pae_enabled: one.isOn,
      public_clonable: one.isOn,
      automatic_login: one.isOn ? "root" : "",
    }),
    lvm: one.hasVolumes ? { enabled: true, kind: "lvm", volume_group: "vg", volumes: one.volumes } : { enabled: false },
    scripts: {
      build: { enabled: one.isOn, script: one.script },
      boot: { enabled: false, script: "" },
      autoyast: { enabled: false, script: "" },
    },
    checks: one.checks,
  }));

const content = fc.oneof(
  fc.uint8Array({ maxLength: 30 }),
  text.map((one) => new TextEncoder().encode(one)),
);
const file = fc.record({
  path,
  owner: word,
  group: word,
  permissions: fc.constantFrom("644", "755", "4755", "000"),
  enabled: fc.boolean(),
  content,
});

const digestOf = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");

/** Appliances with a little of everything, as the service would show them. */
export const generatedDefinitions = ({ repositories: known, keys }: Known): fc.Arbitrary<Generated> =>
  fc
    .tuple(
      fc.shuffledSubarray([...known], { minLength: 1 }),
      fc.oneof({ weight: 19, arbitrary: fc.constant([]) }, fc.shuffledSubarray([...keys])),
    )
    .chain(([repositories, gpg_keys]) => {
      const choices = unique(choice(repositories), ({ name }) => name);
      return fc.record({
        name: someLine(20),
        version: fc.constantFrom("0.0.1", "1.10.0"),
        type: fc.constantFrom("oem", "iso", "vmx"),
        repositories: fc.constant(repositories),
        packages: choices,
        patterns: unique(fc.record({ name: word }), ({ name }) => name),
        bans: unique(fc.record({ name: word }), ({ name }) => name),
        configuration,
        files: unique(file, ({ path: at }) => at),
        gpg_keys: fc.constant(gpg_keys),
      });
    })
    .map(({ name, files, gpg_keys, ...rest }) => ({
      definition: {
        id: 0,
        name,
        base_system: "tiny-1.0",
        arch: "x86_64",
        ...rest,
        files: files.map(({ content: bytes, ...one }) => ({ ...one, size: bytes.byteLength, sha256: digestOf(bytes) })),
        gpg_keys,
      },
      contents: new Map(files.map(({ content: bytes }) => [digestOf(bytes), bytes])),
    }));
