import { describe, expect, it } from "vitest";
import { WireFault } from "#lib/wire/fault";
import { maxXmlBytes, readXml } from "#lib/wire/read-xml";

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
    ["<![CDATA[<!-- a -- b -->]]>c", "<!-- a -- b -->c"],
    ["a<!-- b - c -->d", "ad"],
    ["\t𐍈", "𐍈"],
    ["a > b", "a > b"],
    ["0123", "0123"],
    [" 1.0 ", "1.0"],
  ])("reads the text %s as %s", (written, meant) => {
    expect(readXml(`<a>${written}</a>`).text).toBe(meant);
    if (!written.includes("<")) expect(readXml(`<a b="${written.trim()}"/>`).attributes.get("b")).toBe(meant);
  });

  it.each([
    ["a byte order mark", "\uFEFF<a>b</a>"],
    [
      "a declaration with another encoding and version",
      `<?xml version='1.1' encoding="ISO-8859-1" standalone='yes' ?>\r\n<a>b</a>`,
    ],
    ["white space and comments around the root", "\n<!-- c -->\n<a>b</a>\n<!-- d -->\n"],
    ["instructions", '<?xml-stylesheet href="x"?><a>b<?c d?></a><?e?>'],
    ["a prefix", "<a xmlns:x='urn:x'><x:c/>b</a>"],
  ])("accepts %s", (_, document) => {
    expect(readXml(document).text).toBe("b");
  });

  it("reads every line end as LF, and in attributes as a space", () => {
    const { attributes, exactText } = readXml('<a b="1\r\n2\t3">c\r\nd\re</a>');
    expect([attributes.get("b"), exactText]).toEqual(["1 2 3", "c\nd\ne"]);
  });

  it("leaves a control character in text to the reader of the element", () => {
    expect(readXml("<a>b\u000bc</a>").exactText).toBe("b\u000bc");
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
    ["< in an attribute", '<a b="1<2"/>'],
    ["< in an attribute, and a control character in text", '<a><b c="1<2"/>\u000b</a>'],
    ["& in an attribute", '<a b="1&2"/>'],
    ["an attribute without quotes", "<a b=1/>"],
    ["an attribute without a value", "<a b/>"],
    ["attributes without white space in between", '<a b="1"c="2"/>'],
    ["a control character in an attribute", '<a b="\u0001"/>'],
    ["a control character in a name", "<a\u0001/>"],
    ["a control character in a comment", "<a><!-- \u000b --></a>"],
    ["a control character in an instruction", "<a><?b \u000b?></a>"],
    ["a control character after the root", "<a/>\u000b"],
    ["a reference to a control character", "<a>&#11;</a>"],
    ["a reference to a control character in an attribute", '<a b="&#xb;"/>'],
    ["a reference to a character that XML does not have", "<a>&#xffff;</a>"],
    ["very many control characters", `<a>${"\u000b".repeat(101)}</a>`],
    ["two dashes in a comment", "<a><!-- b -- c --></a>"],
    ["a comment that ends in three dashes", "<a><!-- b ---></a>"],
    ["two dashes in a comment after CDATA", "<a><![CDATA[<!--]]><!-- b -- c --></a>"],
    ["a comment that is not closed", "<a/><!-- b"],
    ["CDATA that is not closed", "<a><![CDATA[b</a>"],
    ["CDATA outside the root", "<a/><![CDATA[b]]>"],
    ["the end of CDATA in text", "<a>b]]>c</a>"],
    ["a wrong closing tag", "<a><b></a></b>"],
    ["a closing tag too many", "<a></a></b>"],
    ["a closing tag with an attribute", '<a></a b="c">'],
    ["a name that begins with a digit", "<1a/>"],
    ["< in text", "<a>1 < 2</a>"],
    ["a declaration in the middle", '<a><?xml version="1.0"?></a>'],
    ["white space before the declaration", ' <?xml version="1.0"?><a/>'],
    ["a declaration without a version", '<?xml encoding="UTF-8"?><a/>'],
    ["two declarations", '<?xml version="1.0"?><?xml version="1.0"?><a/>'],
    ["an instruction that is not closed", "<a/><?b"],
    ["deep nesting", `${"<a>".repeat(100)}${"</a>".repeat(100)}`],
    ["very many elements", `<a>${"<b/>".repeat(60_000)}</a>`],
    ["very much text", `<a>${"b".repeat(maxXmlBytes)}</a>`],
  ])("refuses %s as invalid_xml", (_, document) => {
    expect(refusalOf(document)).toBe("invalid_xml");
  });
});
