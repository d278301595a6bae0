import * as fc from "../support/properties.ts";
import { describe, expect, it } from "vitest";
import { WireFault } from "#lib/wire/fault";
import { readXml, type XmlNode } from "#lib/wire/read-xml";
import { marked, writeXml, type XmlFields, type XmlValue } from "#lib/wire/xml";

/** The content of a document, independent of how it is written or read. */
interface Element {
  name: string;
  attributes: [string, string][];
  text: string;
  children: Element[];
}

// The reader rejects property names that every object has.
const known = new Set(["__proto__", "constructor", "prototype", "hasOwnProperty", "toString", "valueOf"]);
const name = fc.stringMatching(/^[A-Za-z_][\w.-]{0,8}$/).filter((one) => !known.has(one));

/** Includes characters that XML cannot contain, and text that looks like XML. */
const text = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: "grapheme" }),
  fc
    .array(
      fc.constantFrom(
        "<",
        ">",
        "&",
        '"',
        "'",
        "&amp;",
        "&#65;",
        "]]>",
        "<![CDATA[",
        "<!--",
        "\n",
        "\t",
        "\u0000",
        "é",
        "🐧",
      ),
    )
    .map((all) => all.join("")),
);
const attributes = fc.uniqueArray(fc.tuple(name, text), { selector: ([key]) => key, maxLength: 3 });

const leaf: fc.Arbitrary<Element> = fc.record({ name, attributes, text, children: fc.constant([]) });
const parent = (child: fc.Arbitrary<Element>): fc.Arbitrary<Element> => {
  const children = fc.uniqueArray(child, { selector: (one) => one.name, minLength: 1, maxLength: 4 });
  return fc.record({ name, attributes, text: fc.constant(""), children });
};
const element: fc.Memo<Element> = fc.memo((depth) => (depth <= 1 ? leaf : fc.oneof(leaf, parent(element(depth - 1)))));

const viewOf = ({ attributes, text, children }: Element): XmlValue =>
  marked(Object.fromEntries(attributes), children.length > 0 ? fieldsOf(children) : text);

const fieldsOf = (children: Element[]): XmlFields =>
  Object.fromEntries(children.map((child) => [child.name, viewOf(child)]));

/** Characters that XML 1.0 cannot represent, and unpaired surrogates. */
const unwritable = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\p{Surrogate}/gu;
// Every XML reader normalizes a carriage return to a line feed, and white space in attributes to spaces.
const written = (one: string) => one.replace(unwritable, "").replace(/\r\n?/g, "\n");

const expected = ({ name, attributes, text, children }: Element): unknown => ({
  name,
  attributes: attributes.map(([key, value]) => [key, written(value).replace(/[\n\t]/g, " ")]),
  text: written(text).trim(),
  children: children.map(expected),
});

const read = ({ name, attributes, text, children }: XmlNode): unknown => ({
  name,
  attributes: [...attributes],
  text,
  children: children.map(read),
});

describe("a written document", () => {
  it("reads back with the same names, attributes, texts and order", () => {
    fc.assert(
      fc.property(element(4), (root) => {
        expect(read(readXml(writeXml(root.name, viewOf(root))))).toEqual(expected(root));
      }),
      { numRuns: 500 },
    );
  });
});

/** Reads a possibly invalid document. Returns whether it was valid. Any error except `invalid_xml` fails the test. */
function isDocument(text: string): boolean {
  try {
    readXml(text);
    return true;
  } catch (error) {
    if (error instanceof WireFault && error.code === "invalid_xml") return false;
    throw error;
  }
}

const signs = [..."<>/&;='\"?! \n\u0000éx"];
const tags = ["<a", "</a>", "<a/>", "<a>", "<b c='d'>", "</b>", "__proto__", "constructor", "xmlns:a='b'", "a:"];
const marks = ["]]>", "<![CDATA[", "<!--", "-->", "<?xml", "?>", "<!DOCTYPE a", "<!ENTITY", "["];
const characters = ["&#x", "&#65;", "&#xD800;", "&lt;", "\uFEFF", "\ud800"];
const pieces = [...signs, ...tags, ...marks, ...characters];

describe("an invalid document", () => {
  it("made of pieces of XML is refused as invalid_xml, or is valid", () => {
    const soup = fc.array(fc.constantFrom(...pieces), { maxLength: 30 }).map((all) => all.join(""));

    fc.assert(
      fc.property(soup, (one) => typeof isDocument(one) === "boolean"),
      { numRuns: 3000 },
    );
    fc.assert(
      fc.property(soup, (one) => typeof isDocument(`<a>${one}</a>`) === "boolean"),
      { numRuns: 3000 },
    );
  });

  it("made of any characters is refused", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 200 }), (one) => !isDocument(`x${one}`)),
      { numRuns: 1000 },
    );
  });

  it("that is cut off is refused", () => {
    fc.assert(
      fc.property(element(3), fc.nat(), (root, at) => {
        const whole = writeXml(root.name, viewOf(root)).trimEnd();
        expect(isDocument(whole.slice(0, at % whole.length))).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  it("with an extra character is refused, or is valid", () => {
    fc.assert(
      fc.property(element(3), fc.nat(), fc.constantFrom(...pieces), (root, at, piece) => {
        const whole = writeXml(root.name, viewOf(root));
        const place = at % whole.length;
        return typeof isDocument(whole.slice(0, place) + piece + whole.slice(place)) === "boolean";
      }),
      { numRuns: 2000 },
    );
  });
});
