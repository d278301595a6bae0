import { Ajv } from "ajv";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import * as fc from "../../test/support/properties.ts";
import schema from "../src/appliance-file/schema.json" with { type: "json" };
import { applianceSchema, faultsIn } from "../src/appliance-file/check.ts";
import { readApplianceFile } from "../src/appliance-file/read.ts";
import { digestOf, writeApplianceFile } from "../src/appliance-file/write.ts";
import { kiosk, withFiles } from "./support/definition.ts";

const { id: _id, ...told } = kiosk;
const surroundings = { schema: "https://kiln.test/schema/appliance.json", folder: "kiosk.files" };
const validate = new Ajv({ strict: false }).compile(schema);

function exported(contents: Record<string, Uint8Array> = {}) {
  const known = new Map(Object.values(contents).map((bytes) => [digestOf(bytes), bytes]));
  const contentOf = (sha256: string) => known.get(sha256) ?? new Uint8Array();
  return writeApplianceFile(withFiles(contents, digestOf), { ...surroundings, contentOf });
}

const read = (text: string, files: ReadonlyMap<string, Uint8Array> = new Map(), env: Record<string, string> = {}) =>
  readApplianceFile(text, { name: "kiosk.yaml", read: (path) => files.get(path), env });

describe("a file that was exported", () => {
  it("contains what the service returns, in lines that people can review", () => {
    const { text } = exported({ "/etc/motd": new TextEncoder().encode("hello\n"), "/logo": Uint8Array.of(0, 255) });

    expect(text).toMatch(
      /^# yaml-language-server: \$schema=https:\/\/kiln\.test\/schema\/appliance\.json\n# `kiln plan`/,
    );
    expect(text).toContain('packages:\n  - hello\n  - name: webdemo\n    version: "2.0"\n    repository: Tools\n');
    expect(text).toContain("      script: |\n        #!/bin/sh\n        echo hi\n");
    expect(text).toContain('    permissions: "644"\n    enabled: true\n    content: |\n      hello\n');
    expect(text).toContain("    content:\n      file: kiosk.files/logo\n");
    expect(text).not.toMatch(/sha256|size: 6|id: 1000/);
  });

  it("is what its schema allows", () => {
    const value: unknown = parse(exported({ "/logo": Uint8Array.of(0) }).text);
    expect([validate(value), validate.errors, faultsIn(applianceSchema, value)]).toEqual([true, null, []]);
  });

  it("is read as what was exported, whatever its contents and texts are", () => {
    const names = fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }).filter((name) => /^[^/\n]*$/.test(name));
    const paths = fc.array(names, { minLength: 1, maxLength: 3 }).map((parts) => `/${parts.join("/")}`);
    const text = fc.array(
      fc.constantFrom(" ", "\n", "\r", "\t", "#", ":", "-", "'", '"', "a", "é", "\u2028", "\ufeff", "👍"),
    );
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      text.map((all) => new TextEncoder().encode(all.join(""))),
    );
    fc.assert(
      fc.property(fc.dictionary(paths, bytes, { maxKeys: 6 }), text, (contents, description) => {
        const configuration = { ...told.configuration, description: description.join("") };
        const known = new Map(Object.values(contents).map((one) => [digestOf(one), one]));
        const wanted = { ...withFiles(contents, digestOf), configuration };
        const written = writeApplianceFile(wanted, {
          ...surroundings,
          contentOf: (at) => known.get(at) ?? new Uint8Array(),
        });
        const { id: _, ...expected } = wanted;
        const { at: _at, ...all } = read(written.text, written.files);
        expect(all).toEqual({ definition: expected, contents: known });
      }),
    );
  });

  it("has a separate file for each content, also where names clash", () => {
    const contents = {
      "/a": Uint8Array.of(0),
      "/A": Uint8Array.of(1),
      "/a/b": Uint8Array.of(2),
      "/../x": Uint8Array.of(3),
    };
    expect([...exported(contents).files.keys()]).toEqual([
      "kiosk.files/a",
      "kiosk.files/2/A",
      "kiosk.files/3/a/b",
      "kiosk.files/x",
    ]);
  });
});

describe("a file that a person wrote", () => {
  const least = "name: Kiosk\nbase_system: tiny-1.0\n";

  it("takes texts from files, and secrets from the environment", () => {
    const text =
      `${least}configuration:\n  users:\n    - name: root\n      password: { env: ROOT }\n` +
      "  scripts: { boot: { script: { file: boot.sh } } }\n";
    const files = new Map([["boot.sh", new TextEncoder().encode("#!/bin/sh\n")]]);

    expect(read(text, files, { ROOT: "quiet" }).definition.configuration).toEqual({
      users: [{ name: "root", password: "quiet" }],
      scripts: { boot: { script: "#!/bin/sh\n" } },
    });
  });

  const wrong: [string, string, RegExp][] = [
    ["an unknown key", "packges: [hello]", /^kiosk.yaml:3: packges is not a known key. Did you mean packages\?$/],
    ["one far from any", "colour: red", /^kiosk.yaml:3: colour is not a known key. Known keys: name, base_system, /],
    [
      "an unknown key inside",
      "files:\n  - path: /a\n    contents: x\n    content: y",
      /^kiosk.yaml:5: files\[0\].contents .*mean content\?$/,
    ],
    ["a missing member", "files:\n  - path: /a", /^kiosk.yaml:4: files\[0\] needs content.$/],
    ["a number for a text", "version: 1.0", /^kiosk.yaml:3: version must be text: write it as "1".$/],
    ["no value", "packages:", /^kiosk.yaml:3: packages has no value.$/],
    ["no list", "packages: hello", /^kiosk.yaml:3: packages must be a list.$/],
    ["another word", "type: floppy", /^kiosk.yaml:3: type must be one of oem, /],
    ["another form", 'version: "1.0"', /^kiosk.yaml:3: version must be like 0.0.1.$/],
    ["a number outside", "configuration: { settings: { memory_size: 1 } }", /memory_size must be 64 to 65536.$/],
    [
      "a password in clear",
      "configuration: { users: [{ name: a, password: b }] }",
      /users\[0\].password must be { env: … }.$/,
    ],
  ];

  it.each(wrong)("is refused for %s, with its line", (_what, lines, message) => {
    expect(() => read(least + lines)).toThrow(message);
    expect(validate(parse(least + lines))).toBe(false);
  });

  it("is refused for what it refers to, with the line", () => {
    const users = (name: string) =>
      `${least}configuration:\n  users:\n    - name: root\n      password: { env: ${name} }\n`;
    expect(() => read(users("ROOT"))).toThrow(
      /^kiosk.yaml:6: configuration.users\[0\].password refers to the variable ROOT, which is not set/,
    );
    const script = `${least}configuration: { scripts: { boot: { script: { file: boot.sh } } } }`;
    expect(() => read(script)).toThrow(/boot.script names boot.sh, which cannot be read/);
    expect(() => read(script, new Map([["boot.sh", Uint8Array.of(255)]]))).toThrow(/which is not text/);
    expect(() => read(`${least}files: [{ path: /a, content: { file: /etc/shadow } }]`)).toThrow(/cannot be read/);
  });

  it("is refused if it is not YAML, or too much of it", () => {
    expect(() => read("name: [")).toThrow(/^kiosk.yaml:1: Flow sequence/);
    expect(() => read("name: a\nname: b")).toThrow(/^kiosk.yaml:2: Map keys must be unique/);
    expect(() => read("")).toThrow(/^kiosk.yaml:1: The file has no value/);
    const bomb = [
      "a: &a [1]",
      ..."bcdefghij".split("").map((one, at) => `${one}: &${one} [${`*${"abcdefghi"[at]}, `.repeat(9)}]`),
    ];
    expect(() => read(bomb.join("\n"))).toThrow(/^kiosk.yaml: Excessive alias count/);
  });
});
