/** Slices are made for libsolv. It must read them, and reject whatever slicing passes on unchecked. */
import { describe, expect, it } from "vitest";
import { type SlicedDocument, slices } from "#lib/repodata/slices";
import { searchRow } from "#lib/repodata/search-rows";
import { solverModule } from "#lib/solver/module";
import { UnreadableMetadata } from "#lib/solver/repository";
import { openSolver } from "#lib/solver/solver";
import { inChunks } from "./support.ts";

const namespaces = 'xmlns="http://linux.duke.edu/metadata/common" xmlns:rpm="http://linux.duke.edu/metadata/rpm"';
const packageXml = (name: string, summary: string) => `<package type="rpm"><name>${name}</name><arch>noarch</arch>
  <version epoch="1" ver="2" rel="3"/><checksum type="sha" pkgid="YES">da39a3ee5e6b4b0d3255bfef95601890afd80709</checksum>
  <summary>${summary}</summary><!-- </package> --><size package="5" installed="6" archive="7"/>
  <location href="${name}.rpm"/><format><rpm:provides><rpm:entry name="pattern()" flags="EQ" epoch="0" ver="${name}"/>
  </rpm:provides></format></package>`;

/** Reads the document with libsolv, one record per slice. */
async function read(document: string, kind: SlicedDocument = "primary") {
  const solver = await openSolver(solverModule);
  const part = solver.addRepository("part");
  for await (const { bytes } of slices(inChunks(document, 100), kind, { records: 1 })) {
    if (kind === "primary") part.readPrimary(bytes);
    else part.readSusetags(bytes);
  }
  part.finish();
  return [...part.pages()].flat();
}

describe("slices in libsolv", () => {
  it("become rows for the search", async () => {
    const document = `<metadata ${namespaces}>${packageXml("a", "<![CDATA[</package>]]>")}${packageXml("b", "B")}</metadata>`;
    expect((await read(document)).map(searchRow)).toEqual(
      [
        ["a", "</package>"],
        ["b", "B"],
      ].map(([name, summary]) => ({
        name,
        epoch: 1,
        version: "2",
        release: "3",
        arch: "noarch",
        pattern: name,
        summary,
        description: "",
        sizeBytes: 5,
        installedBytes: 6,
        checksum: { type: "sha1", hex: "da39a3ee5e6b4b0d3255bfef95601890afd80709" },
        location: `${name}.rpm`,
      })),
    );
  });

  it("keep the document's declared encoding", async () => {
    const latin1 = `<?xml version="1.0" encoding="ISO-8859-1"?><metadata ${namespaces}>${packageXml("a", "\u00e4")}</metadata>`;
    // In UTF-8 the ä has two bytes; read as Latin-1 they are two characters.
    expect((await read(latin1)).map(({ summary }) => summary)).toEqual(["Ã¤"]);
  });

  it("end at a closing tag with spaces in it", async () => {
    const packages = ["a", "b"].map((name) => packageXml(name, name).replace(/<\/package>$/, "</package \t\r\n>"));
    const found = await read(`<metadata ${namespaces}>${packages.join("")}</metadata>`);
    expect(found.map(({ name }) => name)).toEqual(["a", "b"]);
  });

  it("contain the packages of yast2", async () => {
    const document = `=Ver: 2.0\n##--\n=Pkg: a 1 2 noarch\n=Loc: 1 a.rpm\n##--\n=Pkg: b 1 2 noarch\n=Loc: 1 b.rpm\n`;
    expect((await read(document, "susetags")).map(({ name }) => name)).toEqual(["a", "b"]);
  });

  it.each([
    ["a package within a package", "<metadata><package><package></package></package></metadata>"],
    ["a closing tag in an attribute", '<metadata><package a="</package>"></package></metadata>'],
    [
      "a document after the document",
      "<metadata><package></package></metadata><metadata><package></package></metadata>",
    ],
    [
      "a comment that begins in an attribute",
      '<metadata><package a="<!--"></package><package a="-->"></package></metadata>',
    ],
  ])("are refused if %s caused a wrong cut", async (_, document) => {
    await expect(read(document)).rejects.toThrow(UnreadableMetadata);
  });
});
