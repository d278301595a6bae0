import { anySettings } from "../../support/any-settings.ts";
import { sshKeys } from "../../support/ssh-keys.ts";
import { divisions } from "#lib/configuration/division";
import { completeCheck, imageTypes } from "#lib/contract/index";
import type { ImageFacts } from "#lib/kiwi/facts";
import { keyboardLayouts } from "#lib/kiwi/keytables";
import * as fc from "../../support/properties.ts";

const text = fc
  .string({ unit: "grapheme", maxLength: 30 })
  .map((one) => one.replaceAll(/[^\n -\uD7FF\uE000-\uFFFD]/g, " "));
const line = text.map((one) => one.replaceAll("\n", " ").trim());
const name = fc.stringMatching(/^[a-z_][a-z0-9_-]{0,10}$/);
const sqlName = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,8}$/);
const script = fc.record({ enabled: fc.boolean(), script: text });
const hash = fc.constant("$6$salt$hash");
const uniqueBy = <T>(one: fc.Arbitrary<T>, selector: (value: T) => unknown, maxLength = 3) =>
  fc.uniqueArray(one, { selector, maxLength });

const databaseUser = fc.record({
  username: sqlName,
  verifier: hash,
  databases: fc.uniqueArray(sqlName, { maxLength: 3 }),
});

/** Any appliance whose values the API accepts. */
export const facts: fc.Arbitrary<ImageFacts> = fc.record({
  name: fc.stringMatching(/^[A-Za-z0-9]{1,9}$/),
  title: line.filter((one) => one !== ""),
  version: fc.stringMatching(/^[1-9]\d{0,2}\.[1-9]\d?\.[1-9]$/),
  imageType: fc.constantFrom(...imageTypes),
  lvm: fc.record({
    enabled: fc.boolean(),
    kind: fc.constantFrom(...divisions),
    volumeGroup: fc.stringMatching(/^[A-Za-z0-9_]{1,8}$/),
    volumes: uniqueBy(
      fc.record({ path: fc.constantFrom("/", "/srv", "/var/lib/x"), sizeMb: fc.integer({ min: 10, max: 9000 }) }),
      ({ path }) => path,
    ),
  }),
  locale: fc.record({
    language: fc.constantFrom("de_DE.UTF-8", "pt_BR.UTF-8"),
    keyboardLayout: fc.constantFrom(...keyboardLayouts),
    timezone: fc.constantFrom("Europe/Vienna", "UTC", "America/Argentina/Salta"),
  }),
  users: uniqueBy(
    fc.record({
      name,
      passwordHash: hash,
      homedir: fc.constantFrom("/root", "/home/x"),
      shell: fc.constantFrom("/bin/sh", "/bin/bash"),
      group: name,
      uid: fc.integer({ min: 0, max: 9999 }),
      sshKeys: fc.subarray([sshKeys.ed25519, sshKeys.rsa2048]),
      administrator: fc.boolean(),
    }),
    (one) => one.name,
  ),
  packages: uniqueBy(
    fc.record({
      name: fc.stringMatching(/^[a-z][a-z0-9+_-]{0,9}$/),
      epoch: fc.constantFrom(0, 2),
      version: fc.stringMatching(/^\d[a-z0-9.~^]{0,5}$/),
      release: fc.stringMatching(/^\d{1,3}$/),
      arch: fc.constantFrom("x86_64", "noarch"),
    }),
    (one) => one.name,
    6,
  ),
  bootstrap: fc.constant(null),
  description: text,
  website: fc.constantFrom("", "https://reading.example.org/a?b='c'&d"),
  network: fc.record({
    type: fc.constantFrom("dhcp", "manual", "ask_on_first_boot", "network_manager", "none"),
    hostname: fc.constantFrom("", "box", "box.example.org"),
    ip: fc.constantFrom("192.0.2.10", "2001:db8::2"),
    netmask: fc.constantFrom("24", "64"),
    route: fc.constantFrom("", "192.0.2.1"),
    nameservers: fc.uniqueArray(fc.constantFrom("192.0.2.2", "2001:db8::9")),
  }),
  firewall: fc.record({
    enabled: fc.boolean(),
    openPorts: fc.uniqueArray(fc.constantFrom("ssh", "8080", "dns/udp", "x-11")),
  }),
  eulas: fc.array(
    text.map((one) => `${one}\n`),
    { maxLength: 12 },
  ),
  databases: fc.subarray(["pgsql", "mysql"] as const).chain((types) =>
    fc.tuple(
      ...types.map((type) =>
        fc.record({
          type: fc.constant(type),
          users: fc.uniqueArray(databaseUser, { selector: ({ username }) => username, minLength: 1, maxLength: 3 }),
        }),
      ),
    ),
  ),
  checks: fc.subarray([completeCheck({ kind: "login" }), completeCheck({ kind: "command", command: "true" })]),
  autostarts: fc.array(
    fc.record({ command: line.filter(Boolean), description: line.filter(Boolean), enabled: fc.boolean(), user: name }),
    { maxLength: 12 },
  ),
  settings: fc
    .tuple(anySettings, fc.integer({ min: 700, max: 90_000 }))
    .map(([settings, diskSizeMb]) => ({ ...settings, diskSizeMb })),
  scripts: fc.record({ build: script, boot: script, autoyast: script }),
  overlay: fc.constant([]),
});
