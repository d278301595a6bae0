import { describe, expect, it } from "vitest";
import { marked, writeXml, XmlList } from "#lib/wire/xml";

describe("writeXml", () => {
  it("writes fields in their order, indented, each on its own line", () => {
    const answer = writeXml("build", { id: 4711, size: 602, expired: false, checksum: { md5: "ab" } });

    expect(answer).toBe(
      "<build>\n  <id>4711</id>\n  <size>602</size>\n  <expired>false</expired>\n  <checksum>\n    <md5>ab</md5>\n  </checksum>\n</build>\n",
    );
  });

  it("writes lists with their attributes, and an empty list as two tags", () => {
    expect(writeXml("builds", new XmlList("build", [{ id: 1 }], { type: "array" }))).toBe(
      '<builds type="array">\n  <build>\n    <id>1</id>\n  </build>\n</builds>\n',
    );
    expect(writeXml("builds", new XmlList("build", [], { type: "array" }))).toBe('<builds type="array">\n</builds>\n');
    expect(writeXml("status", { issues: new XmlList("issue", []) })).toBe(
      "<status>\n  <issues>\n  </issues>\n</status>\n",
    );
  });

  it("writes success as clients expect it", () => {
    expect(writeXml("success", {})).toBe("<success></success>\n");
  });

  it("repeats an element for an array and omits undefined fields", () => {
    expect(writeXml("set", { name: "mono", website: undefined, template: [{ id: 1 }, { id: 2 }] })).toBe(
      "<set>\n  <name>mono</name>\n  <template>\n    <id>1</id>\n  </template>\n  <template>\n    <id>2</id>\n  </template>\n</set>\n",
    );
  });

  it("writes attributes on a text and escapes both", () => {
    expect(writeXml("package", marked({ version: 'a"<&' }, "vim & <co>"))).toBe(
      '<package version="a&quot;&lt;&amp;">vim &amp; &lt;co&gt;</package>\n',
    );
  });

  it("writes times in the format of the strict Java client", () => {
    expect(writeXml("created_at", new Date("2012-03-01T17:02:09.500Z"))).toBe(
      "<created_at>2012-03-01 17:02:09 UTC</created_at>\n",
    );
  });

  it("drops characters that XML cannot contain; keeps line breaks and emoji", () => {
    expect(writeXml("script", "a\u0000\u001b[1m\n\tb\ud800 😀")).toBe("<script>a[1m\n\tb 😀</script>\n");
  });
});
