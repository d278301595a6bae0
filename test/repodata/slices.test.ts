import { XMLValidator } from "fast-xml-parser";
import { describe, expect, it } from "vitest";
import { type SlicedDocument, type SliceLimits, slices } from "#lib/repodata/slices";
import { expectFault, inChunks, textOf } from "./support.ts";

const head =
  '<?xml version="1.0" encoding="UTF-8"?>\n<!-- made by hand -->\n<metadata xmlns="c" xmlns:rpm="r" packages="3">';
const named = (name: string, inside = "") => `\n<package type="rpm"><name>${name}</name>${inside}</package>`;
const primary = (...packages: string[]) => `${head}${packages.join("")}\n</metadata>\n`;
const update = (id: string) =>
  `<update from="x"><id>${id}</id><updated date="1"></updated><pkglist><package name="p"></package></pkglist></update>`;
const paragraph = (name: string) =>
  `##----\n=Pkg: ${name} 1.0 1 noarch\n+Req:\nrpmlib(x)\n-Req:\n=Loc: 1 ${name}.rpm\n`;

async function cut(
  document: string | Uint8Array,
  limits: Partial<SliceLimits> = {},
  { chunkBytes = 5, kind = "primary" as SlicedDocument } = {},
): Promise<{ text: string; records: number }[]> {
  const all = [];
  for await (const { bytes, records } of slices(inChunks(document, chunkBytes), kind, limits)) {
    all.push({ text: textOf(bytes), records });
  }
  return all;
}
const namesIn = (text: string) => [...text.matchAll(/<name>(.*?)<\/name>/g)].map(([, name]) => name);

describe("slices of primary.xml", () => {
  it("are complete documents of limited size, with the original head", async () => {
    const all = await cut(primary(...["a", "b", "c", "d", "e"].map((name) => named(name))), { records: 2 });
    expect(all.map(({ text }) => namesIn(text))).toEqual([["a", "b"], ["c", "d"], ["e"]]);
    expect(all.map(({ records }) => records)).toEqual([2, 2, 1]);
    for (const { text } of all) {
      expect(text.startsWith(head)).toBe(true);
      expect(XMLValidator.validate(text)).toBe(true);
    }
  });

  it("end when they are large enough", async () => {
    const all = await cut(primary(...Array.from({ length: 40 }, (_, index) => named(`p${index}`, "x".repeat(500)))), {
      bytes: 5000,
    });
    expect(all.length).toBe(4);
    expect(Math.max(...all.map(({ text }) => text.length))).toBeLessThan(5000 + 560 + head.length + 20);
    expect(all.flatMap(({ text }) => namesIn(text))).toHaveLength(40);
  });

  it("are the same for any chunks of bytes", async () => {
    const document = primary(
      named("a", "ä€𝄞"),
      named("b", "<![CDATA[</package>]]>"),
      named("c", "<!-- </package> -->"),
    );
    const whole = await cut(document, { records: 1 }, { chunkBytes: 100_000 });
    expect(whole).toHaveLength(3);
    for (let chunkBytes = 1; chunkBytes < 40; chunkBytes++) {
      expect(await cut(document, { records: 1 }, { chunkBytes })).toEqual(whole);
    }
  });

  it.each([
    ["a CDATA section", "<![CDATA[</package><package>]]>"],
    ["a CDATA section with a comment's end", "<![CDATA[-->]]</package>]>]]>"],
    ["a comment", "<!-- </package> ]]> -->"],
    ["a comment in which a CDATA section begins", "<!-- <![CDATA[ </package> -->"],
    ["a processing instruction", "<?php </package> <!-- ?>"],
    ["an element with a longer name", "<packager>x</packager>"],
  ])("do not end at the </package> in %s", async (_, inside) => {
    const all = await cut(primary(named("a", inside), named("b")), { records: 1 });
    expect(all.map(({ text }) => namesIn(text))).toEqual([["a"], ["b"]]);
  });

  it("recognize a closing tag with white space", async () => {
    const all = await cut(primary(named("a").replace("</package>", "</package \n>"), named("b")), { records: 1 });
    expect(all).toHaveLength(2);
  });

  it.each([
    ["an empty root", "<metadata></metadata>"],
    ["a self-closing root", '<?xml version="1.0"?><metadata xmlns="c" packages="0"/>\n'],
    ["a root with a comment", "\u{feff}<metadata> <!-- none --> </metadata> <!-- end -->"],
  ])("are none for %s", async (_, document) => {
    expect(await cut(document)).toEqual([]);
  });

  it.each([
    ["a page", "<!DOCTYPE html><html>404</html>"],
    ["an entity bomb", `<?xml version="1.0"?><!DOCTYPE m [<!ENTITY a "a">]>${primary().slice(39)}`],
    ["a DOCTYPE after the head", primary(named("a"), "<!DOCTYPE x>")],
    ["an entity declaration in a package", primary(named("a", "<!ENTITY a 'b'>"))],
    ["another root", "<updates><update></update></updates>"],
    ["a longer root", "<metadata2></metadata2>"],
    ["UTF-16", "\u0000<\u0000m\u0000e\u0000t\u0000a"],
    ["zeros", "\0".repeat(100_000)],
    ["an empty file", ""],
    ["an endless head", `<!--${"x".repeat(100_000)}--><metadata></metadata>`],
    ["a document after the end", `${primary(named("a"))}<metadata></metadata>`],
    ["an element after a self-closing root", `<metadata/>${named("a")}`],
    ["an unclosed comment", primary(named("a"), "<!-- ", named("b"))],
    ["an unclosed CDATA section", primary(named("a", "<![CDATA["), named("b"))],
  ])("refuse %s", async (_, document) => {
    await expectFault(cut(document), "malformed_metadata");
  });

  it("refuse a document that is cut off anywhere", async () => {
    const document = primary(named("a"), named("b", "<!-- x -->")).trimEnd();
    for (let length = 0; length < document.length; length++) {
      await expectFault(cut(document.slice(0, length), {}, { chunkBytes: 50 }), "malformed_metadata");
    }
  });

  it("refuse an oversized package before it is in memory", async () => {
    const limits = { recordBytes: 10_000 };
    await expectFault(cut(primary(named("a", "x".repeat(10_000))), limits, { chunkBytes: 500 }), "too_large");
    let givenBytes = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        controller.enqueue(new TextEncoder().encode(givenBytes === 0 ? `${head}<package>` : "x".repeat(1000)));
        givenBytes += 1000;
      },
    });
    const reading = async () => {
      for await (const _ of slices(endless, "primary", limits)) throw new Error("no slice can come");
    };
    await expectFault(reading(), "too_large");
    // The head is searched for in the first 64 KiB.
    expect(givenBytes).toBeLessThan(100_000);
  });

  it("take linear time for hostile comments", async () => {
    const many = primary(named("a"), "<!-- -->".repeat(200_000), "<?x?>".repeat(200_000), "<");
    await expectFault(cut(many, {}, { chunkBytes: 1 << 16 }), "malformed_metadata");
    const cdata = primary(named("a", "<![CDATA[x]]>".repeat(200_000)), named("b"));
    expect(await cut(cdata, { records: 1 }, { chunkBytes: 1 << 16 })).toHaveLength(2);
  });
});

describe("slices of updateinfo.xml", () => {
  it("end after each update, not after its parts", async () => {
    const document = `<?xml version="1.0"?><updates>${update("1")}${update("2")}</updates>`;
    const all = await cut(document, { records: 1 }, { kind: "updateinfo" });
    expect(all.map(({ text }) => text)).toEqual([
      `<?xml version="1.0"?><updates>${update("1")}</updates>`,
      `<?xml version="1.0"?><updates>${update("2")}</updates>`,
    ]);
  });
});

describe("slices of yast2's packages", () => {
  it("start before each package", async () => {
    const document = `# made by hand\n=Ver: 2.0\n${paragraph("a")}${paragraph("b")}${paragraph("c")}`;
    const all = await cut(document, { records: 2 }, { kind: "susetags" });
    expect(all.map(({ records }) => records)).toEqual([2, 1]);
    expect(all.map(({ text }) => [...text.matchAll(/^=Pkg: (\w)/gm)].map(([, name]) => name))).toEqual([
      ["a", "b"],
      ["c"],
    ]);
    for (const { text } of all) expect(text.startsWith("# made by hand\n=Ver: 2.0\n")).toBe(true);
  });

  it("work for pattern files, which have another format version", async () => {
    const document = "=Ver: 5.0\n##--\n=Pat: a 1 1 noarch\n+Prq:\nx\n-Prq:\n=Pat: b 1 1 noarch\n";
    const all = await cut(document, { records: 1 }, { kind: "patterns" });
    expect(all.map(({ text }) => [...text.matchAll(/^=Pat: (\w)/gm)].map(([, name]) => name))).toEqual([["a"], ["b"]]);
    await expectFault(cut(document.replace("5.0", "2.0"), {}, { kind: "patterns" }), "malformed_metadata");
    await expectFault(cut("=Ver: 5.0\n=Pkg: a 1 1 noarch\n", {}, { kind: "patterns" }), "malformed_metadata");
  });

  it("are none for a file without packages, and refuse a page", async () => {
    expect(await cut("=Ver: 2.0\n", {}, { kind: "susetags" })).toEqual([]);
    await expectFault(cut("<html></html>", {}, { kind: "susetags" }), "malformed_metadata");
    await expectFault(cut("=Ver: 2.0\n<html></html>", {}, { kind: "susetags" }), "malformed_metadata");
  });
});
