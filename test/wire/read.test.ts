import { describe, expect, it } from "vitest";
import { WireFault } from "#wire/fault";
import { maxXmlBytes, readXml } from "#wire/read-xml";

const refusalOf = (document: string): string => {
  try {
    return JSON.stringify(readXml(document));
  } catch (error) {
    if (error instanceof WireFault) return error.code;
    throw error;
  }
};

describe("readXml", () => {
  it("returns elements with attributes, children in order, and text", () => {
    const root = readXml(`<?xml version="1.0"?>
      <!-- a list --><software type="array" n='1'>
        <package version="1.0-1">vim</package><pattern>x11</pattern><package/></software>`);

    expect([root.name, [...root.attributes], root.text]).toEqual([
      "software",
      [
        ["type", "array"],
        ["n", "1"],
      ],
      "",
    ]);
    expect(root.children.map(({ name, text }) => [name, text])).toEqual([
      ["package", "vim"],
      ["pattern", "x11"],
      ["package", ""],
    ]);
    expect(root.children[0]?.attributes.get("version")).toBe("1.0-1");
  });

  it.each([
    ["&lt;a&gt; &amp; &quot;b&quot; &apos;c&apos;", "<a> & \"b\" 'c'"],
    ["&#65;&#x42;&#x43;", "ABC"],
    ["&#128039;&#x1F427;", "🐧🐧"],
    ["&amp;#65;", "&#65;"],
    ["<![CDATA[<a> & &lt;]]>b", "<a> & &lt;b"],
    ["0123", "0123"],
    [" 1.0 ", "1.0"],
  ])("reads the text %s as %s", (written, meant) => {
    expect(readXml(`<a>${written}</a>`).text).toBe(meant);
    if (!written.includes("<")) expect(readXml(`<a b="${written.trim()}"/>`).attributes.get("b")).toBe(meant);
  });

  it.each([
    ["an empty document", ""],
    ["text alone", "hello"],
    ["an element that is not closed", "<a><b></a>"],
    ["an element that is cut off", "<a><b>"],
    ["two roots", "<a/><b/>"],
    ["the same root twice", "<a/><a/>"],
    ["text after the root", "<a/>b"],
    ["text before a last comment", "<a/>b<!-- c -->"],
    ["text before the root", "b<a/>"],
    ["a DOCTYPE", "<!DOCTYPE a><a/>"],
    ["an entity bomb", '<!DOCTYPE a [<!ENTITY b "bb"><!ENTITY c "&b;&b;">]><a>&c;</a>'],
    ["a DOCTYPE in lower case", "<!doctype a><a/>"],
    ["an undeclared entity", "<a>&nbsp;</a>"],
    ["a bare ampersand", "<a>b & c</a>"],
    ["a reference to no character", "<a>&#0;</a>"],
    ["a reference to half a character", "<a>&#xD800;</a>"],
    ["a reference beyond all characters", "<a>&#x110000;</a>"],
    ["an element called __proto__", "<__proto__><a/></__proto__>"],
    ["a child called __proto__", "<a><__proto__>b</__proto__></a>"],
    ["an element called constructor", "<a><constructor/></a>"],
    ["an attribute called __proto__", '<a __proto__="b"/>'],
    ["an attribute twice", '<a b="1" b="2"/>'],
    ["deep nesting", `${"<a>".repeat(100)}${"</a>".repeat(100)}`],
    ["very many elements", `<a>${"<b/>".repeat(60_000)}</a>`],
    ["very much text", `<a>${"b".repeat(maxXmlBytes)}</a>`],
  ])("refuses %s as invalid_xml", (_, document) => {
    expect(refusalOf(document)).toBe("invalid_xml");
  });
});
