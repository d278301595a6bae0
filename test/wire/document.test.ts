import { describe, expect, it } from "vitest";
import { WireFault } from "#lib/wire/fault";
import { arrayOf, fields, int, readAs, repeated, text } from "#lib/wire/field";
import * as leaves from "#lib/wire/leaf";
import { readDocument } from "#lib/wire/read";
import { readXml } from "#lib/wire/read-xml";
import { document, type Document } from "#lib/wire/shape";
import { xmlSchema } from "#lib/wire/xml-schema";

const read = <C>(document: Document<never, C>, xml: string): C => readDocument(document, readXml(xml));

describe("readDocument", () => {
  const tree = document("Tree", "tree", fields({ owner: text("owner", "Ada"), age: int("age", 1) }));

  it.each(["\u000b", "\f"])("refuses %j between elements", (character) => {
    expect(() => read(tree, `<tree>${character}<owner>Ada</owner></tree>`)).toThrow(
      new WireFault("invalid_value", "tree: must not have control characters."),
    );
  });

  it("quotes only the beginning of a long name", () => {
    const name = "x".repeat(100_000);
    const refusals = [`<tree><${name}/></tree>`, `<tree><age><${name}/></age></tree>`, `<${name}/>`].map((xml) => {
      try {
        return read(tree, xml);
      } catch (error) {
        return String(error).replace(/x{100,}/, (x) => `${x.length} x`);
      }
    });

    expect(refusals).toEqual([
      "WireFault: The element 200 x… is not known here.",
      "WireFault: The element age/196 x… is not known here.",
      "WireFault: The element 200 x… is not known here.",
    ]);
  });
});

describe("readAs", () => {
  const shape = fields({ id: int("id", 1), name: text("name", "oak") });
  const ids = readAs(shape, ({ children }) => children.map(({ text }) => text).join("+"));

  it("reads an element with its own function", () => {
    const trees = document("Trees", "trees", arrayOf("tree", ids));
    expect(read(trees, "<trees><tree><id>1</id><leaf>2</leaf></tree><tree/></trees>")).toEqual(["1+2", ""]);
    expect(() => read(trees, "<trees><bush/></trees>")).toThrow(WireFault);
  });

  it("is described by its fields", () => {
    expect(xmlSchema(document("Tree", "tree", ids), "v2")).toEqual(xmlSchema(document("Tree", "tree", shape), "v2"));
  });
});

describe("alsoNamed", () => {
  const wood = document(
    "Wood",
    "wood",
    fields({ tree: repeated("trees", leaves.text("oak")).alsoNamed("trees"), owner: text("owner", "Ada") }),
  );

  it("reads elements of both names as one field", () => {
    const xml = "<wood><trees>ash</trees><owner>Ada</owner><tree>elm</tree></wood>";
    expect(read(wood, xml)).toEqual({ trees: ["ash", "elm"], owner: "Ada" });
    expect(() => read(wood, "<wood><bush/></wood>")).toThrow(WireFault);
  });

  it("is not in the description", () => {
    expect(Object.keys(Object(xmlSchema(wood, "v2")["properties"]))).toEqual(["tree", "owner"]);
  });
});
