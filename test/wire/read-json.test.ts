import { describe, expect, it } from "vitest";
import { groups } from "#api/groups";
import { configurationChange } from "#lib/configuration/document";
import { wantedSoftware } from "#documents/software";
import { jsonExample, xmlExample } from "#lib/wire/example";
import { WireFault } from "#lib/wire/fault";
import { readDocument } from "#lib/wire/read";
import { readJson } from "#lib/wire/read-json";
import { readXml } from "#lib/wire/read-xml";
import type { Document } from "#lib/wire/shape";

const taken = groups.flatMap(({ operations }) =>
  operations.flatMap(({ body }) => (body?.kind === "document" ? [body.document] : [])),
);

const read = <C>(document: Document<never, C>, value: unknown): C =>
  readDocument(document, readJson(document, typeof value === "string" ? value : JSON.stringify(value)));

function refusalOf(document: Document<never, unknown>, value: unknown): string {
  try {
    return `read: ${JSON.stringify(read(document, value))}`;
  } catch (error) {
    if (error instanceof WireFault) return `${error.code} ${error.message}`;
    throw error;
  }
}

describe("readJson", () => {
  it.each(taken.map((document) => [document.name, document] as const))("reads %s as from XML", (_, document) => {
    const fromXml = readDocument(document, readXml(xmlExample(document, "v2")));
    expect(Object.keys(Object(fromXml)).length).toBeGreaterThan(0);
    expect(read(document, jsonExample(document, "v2"))).toEqual(fromXml);
  });

  it("reads numbers and booleans, and skips null", () => {
    expect(
      read(configurationChange, {
        configuration: {
          description: null,
          settings: { memory_size: 512, pae_enabled: true },
          tags: [],
          firewall: { open_port: [] },
        },
      }),
    ).toEqual({ settings: { memorySizeMb: 512, paeEnabled: true }, tags: [], firewall: { openPorts: [] } });
  });

  it("reads a name as a text or with its attributes, and the other name of a field", () => {
    expect(
      read(wantedSoftware, {
        software: { package: ["hello", { version: "1.0-1", value: "vim" }], patterns: [{ value: "base" }] },
      }),
    ).toEqual({
      packages: [{ name: "hello" }, { name: "vim", version: "1.0-1" }],
      patterns: [{ name: "base" }],
    });
  });

  it.each([
    ['{"configuration"', "invalid_value The body is not well-formed JSON."],
    ["{}", 'invalid_node The JSON must be {"configuration": …}.'],
    [{ other: {} }, 'invalid_node The JSON must be {"configuration": …}.'],
    [{ configuration: {}, more: 1 }, 'invalid_node The JSON must be {"configuration": …}.'],
    [{ configuration: [] }, "invalid_value The document: must be an object."],
    [{ configuration: { nonsense: 1 } }, "invalid_node The element nonsense is not known here."],
    ['{"configuration": {"__proto__": 1}}', "invalid_node The element __proto__ is not known here."],
    [{ configuration: { settings: { nonsense: 1 } } }, "invalid_node The element settings/nonsense is not known here."],
    [{ configuration: { settings: 5 } }, "invalid_value settings: must be an object."],
    [{ configuration: { tags: "a" } }, "invalid_value tags: must be a list."],
    [{ configuration: { name: ["a"] } }, "invalid_value name: must be a string, a number, true or false."],
    [{ configuration: { name: "a\u0000" } }, "invalid_value name: must not have control characters."],
    [
      { configuration: { settings: { memory_size: 1.5 } } },
      "invalid_value settings/memory_size: must be a whole number, with an optional unit M or G.",
    ],
  ])("refuses %j", (value, refusal) => {
    expect(refusalOf(configurationChange, value)).toBe(refusal);
  });

  it("refuses what a marked text does not have", () => {
    expect(refusalOf(wantedSoftware, { software: { package: [{ value: "a", of: "b" }] } })).toBe(
      "invalid_node The element package/of is not known here.",
    );
  });

  it.each([
    ["in a list", { configuration: { tags: Array.from({ length: 50_000 }, () => "a") } }],
    ["in lists in lists", { configuration: { tags: Array.from({ length: 300 }, () => Array(300).fill(1)) } }],
    ["in an unknown object", { configuration: { a: Object.fromEntries(Array(50_000).fill(1).entries()) } }],
  ])("refuses 50,000 values %s, as many as XML may have elements", (_, value) => {
    expect(refusalOf(configurationChange, value)).toBe("invalid_xml The JSON has too many values.");
  });
});
