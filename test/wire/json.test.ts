import { describe, expect, it } from "vitest";
import { writeJson } from "#lib/wire/json";
import { marked, XmlList, type XmlValue } from "#lib/wire/xml";

describe("writeJson", () => {
  it.each<[string, string, XmlValue, unknown]>([
    [
      "keeps the type of values",
      "build",
      { id: 4711, expired: false, version: "0.0.1", size: 0 },
      { id: 4711, expired: false, version: "0.0.1", size: 0 },
    ],
    ["writes a root that is a text", "version", "2.0", "2.0"],
    ["omits undefined fields", "appliance", { id: 1, parent: undefined }, { id: 1 }],
    ["writes success as an empty object", "success", {}, {}],
    [
      "writes moments in ISO 8601",
      "account",
      { created_at: new Date("2012-03-01T17:02:09.500Z") },
      { created_at: "2012-03-01T17:02:09Z" },
    ],
    ["writes nested objects", "build", { checksum: { md5: "ab" } }, { checksum: { md5: "ab" } }],
    [
      "makes an array of a list",
      "builds",
      new XmlList("build", [{ id: 1 }, { id: 2 }], { type: "array" }),
      [{ id: 1 }, { id: 2 }],
    ],
    ["makes an array of an empty list", "status", { issues: new XmlList("issue", []) }, { issues: [] }],
    ["makes an array of a counted list", "users", new XmlList("user", ["tux"], { count: 1 }), ["tux"]],
    ["makes an array of a repeatable element", "set", { template: [{ id: 1 }] }, { template: [{ id: 1 }] }],
    ["makes an array of a repeatable element that is absent", "set", { template: [] }, { template: [] }],
    [
      "puts attributes next to a text",
      "rpm",
      { checksum: marked({ type: "md5" }, "ab") },
      { checksum: { type: "md5", value: "ab" } },
    ],
    [
      "keeps the object form for a text without attributes",
      "software",
      { package: [marked({}, "vim")] },
      { package: [{ value: "vim" }] },
    ],
    [
      "puts attributes next to fields",
      "software",
      marked({ type: "array", appliance_id: 7 }, { package: ["vim"] }),
      { appliance_id: 7, package: ["vim"] },
    ],
    [
      "keeps a line break, a quote and what XML cannot hold",
      "script",
      'a\n"\u0000 \ud83d\ude00',
      'a\n"\u0000 \ud83d\ude00',
    ],
  ])("%s", (_, root, value, meant) => {
    const text = writeJson(root, value);

    expect(JSON.parse(text)).toEqual({ [root]: meant });
    expect(text.endsWith("}\n")).toBe(true);
  });

  it("puts a list's attributes next to it", () => {
    const text = writeJson("rpms", new XmlList("rpm", [{ id: 1 }], { type: "array", base_system: "tiny-1.0" }));

    expect(JSON.parse(text)).toEqual({ base_system: "tiny-1.0", rpms: [{ id: 1 }] });
  });
});
