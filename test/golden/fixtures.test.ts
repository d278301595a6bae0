import { describe, expect, it } from "vitest";
import { fixtureNames } from "./fixtures.ts";
import { shapeOf } from "./shape.ts";

const list = (...items: string[]) => `<list type="array">\n${items.join("\n")}\n</list>`;

describe("shapeOf", () => {
  it("is the same for other values and for more items alike", () => {
    const one = list("<item><id>7</id><at>2026-01-02 03:04:05 UTC</at></item>");
    const two = list(
      "<item><id>8</id><at>2026-01-02 03:04:06 UTC</at></item>",
      "<item><id>9</id><at>2025-01-02 03:04:05 UTC</at></item>",
    );
    expect(shapeOf(one)).toBe(shapeOf(two));
    expect(shapeOf(one)).toBe("list @type=array\n  item\n    id: whole number\n    at: time");
  });

  it.each([
    ["a different order", "<a><b>1</b><c>2</c></a>", "<a><c>2</c><b>1</b></a>"],
    ["a missing element", "<a><b>1</b><c>2</c></a>", "<a><b>1</b></a>"],
    ["an extra element", "<a><b>1</b></a>", "<a><b>1</b><c>2</c></a>"],
    ["another name", "<a><b>1</b></a>", "<a><B>1</B></a>"],
    ["another kind of value", "<a>2026-01-02 03:04:05 UTC</a>", "<a>2026-01-02T03:04:05Z</a>"],
    ["no value", "<a>text</a>", "<a/>"],
    ["another attribute", '<a x="1"/>', '<a y="1"/>'],
    ["attributes in another order", '<a x="1" y="1"/>', '<a y="1" x="1"/>'],
    ["another type", '<a type="array">\n</a>', '<a type="list">\n</a>'],
    ["an empty list for an empty text", "<a>\n</a>", "<a></a>"],
    ["a wrong count", '<a count="1"><b>1</b></a>', '<a count="2"><b>1</b></a>'],
    ["an item of another shape", list("<i><b>1</b></i>"), list("<i><b>1</b></i>", "<i><c>1</c></i>")],
  ])("differs for a document with %s", (_what, one, other) => {
    expect(shapeOf(one)).not.toBe(shapeOf(other));
  });

  it("treats CDATA as text", () => {
    expect(shapeOf("<a>x &amp; y</a>")).toBe(shapeOf("<a><![CDATA[x & y]]></a>"));
  });
});

const tests = Object.values(import.meta.glob("./*.test.ts", { query: "?raw", import: "default", eager: true })).join(
  "",
);
const named = [...tests.matchAll(/(?:expectLike|fixture)\("(\w+)"|\["(\w+)", "/g)].map(
  ([, one, other]) => one ?? other,
);

it.each(fixtureNames)("uses the fixture %s in a test", (name) => {
  expect(named).toContain(name);
});
