import { sshKeys } from "../support/ssh-keys.ts";
import { describe, expect, it } from "vitest";
import { imageTypes } from "#lib/contract/index";
import { configuration, configurationChange, networkTypes } from "#lib/configuration/document";
import { databaseTypes } from "#lib/configuration/lists";
import { withChange, type Configured } from "#domain/configuration/change";
import { validate } from "#domain/configuration/validation";
import { Refusal } from "#domain/refusal";
import { raiseRelease } from "#domain/version";
import { keyboardLayouts } from "#lib/kiwi/keytables";
import { Configuration } from "#lib/configuration/stored";
import { readDocument } from "#lib/wire/read";
import { readXml } from "#lib/wire/read-xml";
import { viewOf } from "#lib/wire/view";
import { writeXml } from "#lib/wire/xml";
import tiny from "../../templates/tiny.json";
import * as fc from "../support/properties.ts";
import { anySettings } from "../support/any-settings.ts";

/** Every stored configuration is shown as a document that can be sent back without changing anything. */

const word = fc.oneof(
  fc.constantFrom("a", "kiosk", "Küche 🐧", "a & <b>", "]]>", "&amp;", "a,b", "sealed:x"),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 8 }),
);
/** Mostly as a client sends it. A line of a catalogue may have surrounding white space, or nothing else. */
const line = fc.oneof(
  { weight: 20, arbitrary: word },
  fc.tuple(fc.constantFrom(" ", "\u00a0"), word).map((parts) => parts.join("")),
  fc.constant(" "),
);
const text = fc.array(fc.oneof(word, fc.constantFrom("", "\t", " ")), { maxLength: 3 }).map((all) => all.join("\n"));
const port = fc.constantFrom("ssh", "http", "8080", "53/udp");
const names = ["amal", "zoe", "clerk-2"];
const script = fc.record({ enabled: fc.boolean(), script: text });

const user = (name: string, uid: number) =>
  fc.record({
    uid: fc.constant(uid),
    name: fc.constant(name),
    password: line,
    group: fc.constantFrom("users", "root", "staff"),
    shell: fc.constantFrom("/bin/bash", "/bin/sh"),
    homedir: fc.constantFrom("/root", `/home/${name}`),
    sshKeys: fc.subarray([sshKeys.ed25519, sshKeys.ecdsa]),
    administrator: name === "root" ? fc.constant(false) : fc.boolean(),
  });

const databases = fc.subarray([...databaseTypes]).chain((types) =>
  fc.tuple(
    ...types.map((type) =>
      fc.record({
        type: fc.constant(type),
        users: fc.uniqueArray(
          fc.record({
            username: fc.constantFrom("tickets", "_a1"),
            password: line,
            databases: fc.subarray(["one", "two"]),
          }),
          { selector: ({ username }) => username },
        ),
      }),
    ),
  ),
);

const network = fc
  .record({
    type: fc.constantFrom(...networkTypes),
    hostname: fc.constantFrom("", "kiosk7"),
    ip: fc.constantFrom("192.0.2.7", "2001:db8::7"),
    netmask: fc.constantFrom("24", "/24"),
    nameservers: fc.array(fc.constantFrom("192.0.2.2", "2001:db8::2"), { maxLength: 3 }),
  })
  .chain((one) => fc.constantFrom("", one.ip).map((route) => ({ ...one, route })));

const configurationOf = (chosen: string[]): fc.Arbitrary<Configuration> =>
  fc.record({
    description: text,
    website: fc.constantFrom("", "https://kiosk.example.org", "http://a/b?c=1&d#e"),
    tags: fc.array(line, { maxLength: 2 }),
    locale: fc.record({
      keyboardLayout: fc.constantFrom(...keyboardLayouts),
      language: fc.constantFrom("en_US.UTF-8", "ast_ES.UTF-8"),
      timezone: fc.constantFrom("UTC", "America/Argentina/Buenos_Aires"),
    }),
    network,
    firewall: fc.record({ enabled: fc.boolean(), openPorts: fc.array(port, { maxLength: 3 }) }),
    users: fc.tuple(user("root", 0), ...chosen.map((name, nth) => user(name, 1000 + 3 * nth))),
    eulas: fc.array(
      text.map((one) => `${one}.`),
      { maxLength: 2 },
    ),
    databases,
    autostarts: fc.array(
      fc.record({
        command: line,
        description: fc.oneof(line, fc.constant("")),
        enabled: fc.boolean(),
        user: fc.constantFrom("root", ...chosen),
      }),
      { maxLength: 2 },
    ),
    settings: fc
      .record({
        any: anySettings,
        diskSizeMb: fc.oneof(fc.integer({ min: 64, max: 4096 }), fc.integer({ min: 64, max: 1024 * 1024 })),
        automaticLogin: fc.constantFrom("", "root", ...chosen),
      })
      .map(({ any, ...some }) => ({ ...any, ...some, publishWhen: "always" as const })),
    lvm: fc.record({
      enabled: fc.boolean(),
      kind: fc.constant("lvm"),
      volumeGroup: fc.constantFrom("kioskVG", "a.b+c-d"),
      volumes: fc.uniqueArray(
        fc.record({
          sizeMb: fc.integer({ min: 1, max: 1024 * 1024 }),
          path: fc.constantFrom("/", "/srv", "/var/log", "/opt"),
        }),
        { selector: ({ path }) => path },
      ),
    }),
    scripts: fc.record({ build: script, boot: script, autoyast: script }),
    // XML does not show them.
    checks: fc.constant([]),
  });

const number = fc.constantFrom(0, 1, 9999);
const configured: fc.Arbitrary<Configured> = fc.record({
  name: line,
  version: fc.tuple(number, number, number).map((numbers) => numbers.join(".")),
  imageType: fc.constantFrom(...imageTypes),
  configuration: fc.subarray(names).chain(configurationOf),
});

const viewer = { baseUrl: "https://kiln.test", version: { name: "v2" } } as const;
const documentOf = (one: Configured): string =>
  writeXml("configuration", viewOf(configuration, { id: 1, ...one }, viewer));

const sentBack = (one: Configured): Configured =>
  withChange(one, readDocument(configurationChange, readXml(documentOf(one))));

function isValid(one: Configured): boolean {
  try {
    validate(one);
    return true;
  } catch (error) {
    if (error instanceof Refusal) return false;
    throw error;
  }
}

describe("a configuration document", () => {
  it("can be sent back, whatever source it was stored from", () => {
    fc.assert(
      fc.property(configured, (one) => {
        fc.pre(isValid(one));
        validate(sentBack(one));
      }),
      { numRuns: 200 },
    );
  });

  it("is unchanged if a client sent it before", () => {
    fc.assert(
      fc.property(configured, (one) => {
        const stored = sentBack(one);
        fc.pre(isValid(stored));
        expect(documentOf(sentBack(stored))).toBe(documentOf(stored));
      }),
      { numRuns: 200 },
    );
  });

  it("is refused if it would be too large to send back", () => {
    const configuration = tiny.sets[0]?.templates[0]?.configuration;
    const long = "&".repeat(64 * 1024); // five characters each in XML
    const eulas = (count: number): Configured => ({
      name: "Kiosk",
      version: "0.0.1",
      imageType: "oem",
      configuration: Configuration.parse({ ...configuration, eulas: Array.from({ length: count }, () => long) }),
    });
    const stored = [1, 2, 3, 4, 5, 6, 7].map(eulas).filter(isValid);

    for (const one of stored) validate(sentBack(one));
    expect(stored.length).toBeGreaterThan(0);
  });

  it("can be sent back after a build has raised its version", () => {
    fc.assert(
      fc.property(configured, (one) => {
        fc.pre(isValid(one));
        validate(sentBack({ ...one, version: raiseRelease(one.version) }));
      }),
      { numRuns: 50 },
    );
  });
});
