import { describe, expect, it } from "vitest";
import { RepodataFault } from "#lib/repodata/fault";
import { importedParts } from "#lib/solver/import";
import { solverModule } from "#lib/solver/module";
import { nevra } from "#lib/contract/index";
import { UnreadableMetadata } from "#lib/solver/repository";
import { openSolver, type Solver } from "#lib/solver/solver";
import { inChunks } from "../repodata/support.ts";
import { jobOf, loaded, primaryXmlOf, repo, shown } from "./repo-dsl.ts";
import { rpmHeader } from "./rpm-file.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const many = (count: number): string[] => Array.from({ length: count }, (_, index) => `p${index}-1 requires q, r`);

const install = (solver: Solver, request: string): string[] => {
  const resolution = solver.solve([jobOf(request)]);
  return resolution.state === "solved" ? resolution.packages.map(shown) : resolution.problems.map(({ text }) => text);
};

describe("a part", () => {
  it("solves like the metadata that it was written from", async () => {
    const written = (await imported(repo("a-1 requires b >= 2", "b-2.1", "b-1").xml)).map(({ solving }) => solving);
    expect(install(await withParts(written), "a")).toEqual(["a-1", "b-2.1"]);
  });
  it("for solving keeps checksum, sizes and location, and drops texts", async () => {
    const [part] = await imported(repo("a-1").xml);
    const solver = await withParts([part?.solving ?? bytes("")]);
    expect(solver.info("a")).toMatchObject({
      summary: "",
      description: "",
      downloadSizeBytes: 10,
      location: "a-1.rpm",
      checksum: { type: "sha256" },
    });
  });
  it("in full keeps the texts", async () => {
    const [part] = await imported(repo("a-1").xml);
    const solver = await withParts([part?.full ?? bytes("")]);
    expect(solver.info("a")).toMatchObject({ summary: "Summary of a", description: "What a does", license: "MIT" });
  });
  it("lists all its packages in pages", async () => {
    const solver = await loaded(solverModule, []);
    const repository = solver.addRepository("main");
    repository.readPrimary(bytes(primaryXmlOf(many(25))));
    repository.finish();
    const pages = [...repository.pages(10)];
    expect(pages.map((page) => page.length)).toEqual([10, 10, 5]);
    expect(pages.flat().map(({ name }) => name)).toEqual(many(25).map((_, index) => `p${index}`));
  });
});

describe("import of primary.xml", () => {
  it("splits a repository into parts without losing anything", async () => {
    const parts = await imported(primaryXmlOf(many(100)), { packagesPerPart: 30, bytes: 4000 });
    expect(parts.length).toBeGreaterThan(2);
    expect(parts.flatMap(({ names }) => names)).toEqual(many(100).map((_, index) => `p${index}-1-1.x86_64`));
  });
  it("solves across parts", async () => {
    const xml = primaryXmlOf([...many(50), "q-1", "r-1"]);
    const parts = await imported(xml, { packagesPerPart: 10, bytes: 2000 });
    expect(install(await withParts(parts.map(({ solving }) => solving)), "p49")).toEqual(["p49-1", "q-1", "r-1"]);
  });
  it("accepts an empty repository", async () => {
    expect(await imported(primaryXmlOf([]))).toEqual([]);
  });
  it.each([
    ["an empty file", ""],
    ["a web page", "<html><body>Not found</body></html>"],
    ["another document", "<updates></updates>"],
    ["a document that is cut off between packages", primaryXmlOf(many(3)).replace("</metadata>", "")],
    ["a document that is cut off inside a package", primaryXmlOf(many(3)).slice(0, -200)],
    ["a document with data after its end", `${primaryXmlOf(many(3))}<more/>`],
    [
      "a head that declares entities",
      `<!DOCTYPE metadata [<!ENTITY a "b">]>${primaryXmlOf(many(3)).split("\n", 2)[1]}`,
    ],
    ["broken XML", primaryXmlOf(many(3)).replace("</name>", "</nome>")],
    ["an undeclared entity", primaryXmlOf(many(3)).replace("MIT", "&bomb;")],
    ["a DOCTYPE between packages", primaryXmlOf(many(3)).replace("</package>", "</package><!DOCTYPE x>")],
    ["bytes that are not UTF-8", primaryXmlOf(many(3)).replace("Kiln", "\u0001")],
  ])("refuses %s", async (_, text) => {
    const refusal = await imported(text).catch((error: unknown) => error);
    expect([UnreadableMetadata, RepodataFault].some((kind) => refusal instanceof kind)).toBe(true);
  });
});

describe("a whole document", () => {
  it("with a DOCTYPE is refused before any entity is expanded", async () => {
    const solver = await openSolver(solverModule);
    const entities = Array.from({ length: 9 }, (_, at) => `<!ENTITY e${at + 1} "${`&e${at};`.repeat(10)}">`).join("");
    const bomb = `<!DOCTYPE metadata [<!ENTITY e0 "ha">${entities}]><metadata><package>&e9;</package></metadata>`;
    expect(() => solver.addRepository("main").readPrimary(bytes(bomb))).toThrow(UnreadableMetadata);
    expect(solver.isGone).toBe(false);
  });
});

const update = (id: string) => `<update status="stable" type="security" version="1"><id>${id}</id><pkglist><collection>
  <package name="a" epoch="0" version="2" release="1" arch="x86_64"/></collection></pkglist></update>`;

describe("updateinfo", () => {
  it("is read in slices", async () => {
    const solver = await openSolver(solverModule);
    const parts: number[] = [];
    const source = inChunks(`<?xml version="1.0"?><updates>${update("U1")}${update("U2")}</updates>`, 10);
    for await (const part of importedParts(solver, source, "updateinfo", { bytes: 100 })) parts.push(part.packageCount);
    expect(parts).toEqual([2]);
  });
});

describe("a yast2 repository", () => {
  const packages = [
    "=Ver: 2.0",
    "##----------------------------------------",
    "=Pkg: a 1.0 1 x86_64",
    "=Cks: SHA1 0123456789012345678901234567890123456789",
    "+Req:\nb >= 2\n-Req:",
    "=Loc: 1 a-1.0-1.x86_64.rpm x86_64",
    "=Siz: 100 200",
    "##----------------------------------------",
    "=Pkg: b 2.1 1 noarch",
    "+Prv:\nb = 2.1-1\n-Prv:",
    "=Loc: 1 b-2.1-1.noarch.rpm noarch",
    "=Siz: 10 20",
    "",
  ].join("\n");
  const texts = "=Ver: 2.0\n=Pkg: a 1.0 1 x86_64\n=Sum: The letter A\n+Des:\nIt is the first.\n-Des:\n";

  it.each([20, 10_000])("is read in slices of %i bytes", async (bytesPerSlice) => {
    const solver = await openSolver(solverModule);
    for await (const part of importedParts(solver, inChunks(packages, 9), "susetags", { bytes: bytesPerSlice })) {
      part.readSusetagsTexts(bytes(texts), "en");
      solver.ready();
      expect(install(solver, "a")).toEqual(["a-1.0", "b-2.1.noarch"]);
      expect(solver.info("a")).toMatchObject({
        location: "x86_64/a-1.0-1.x86_64.rpm",
        checksum: { type: "sha1", value: "0123456789012345678901234567890123456789" },
        downloadSizeBytes: 100,
        installSizeBytes: 200,
        summary: "The letter A",
      });
    }
  });
  it("reads patterns as packages of their own kind, with their requirements", async () => {
    const solver = await openSolver(solverModule);
    const repository = solver.addRepository("main");
    repository.readSusetags(bytes(packages));
    repository.readSusetags(bytes("=Ver: 2.0\n=Pat: base 1 1 x86_64\n+Prq:\na\n-Prq:\n"));
    repository.finish();
    solver.ready();
    expect(install(solver, "pattern base")).toEqual(["a-1.0", "b-2.1.noarch"]);
  });
  it("includes its product", async () => {
    const solver = await openSolver(solverModule);
    const repository = solver.addRepository("main");
    repository.readContent(bytes("CONTENTSTYLE 11\nNAME tiny\nVERSION 1.0\nARCH.x86_64 x86_64 noarch\n"));
    repository.finish();
    expect([...repository.pages()].flat().map(({ name }) => name)).toContain("product:tiny");
  });
});

describe("an rpm", () => {
  const sha256 = "ab".repeat(32);
  const header = rpmHeader({ name: "own", version: "1.2", release: "3", arch: "noarch", requires: ["b"] });

  it("is solved from its header together with other packages", async () => {
    const solver = await loaded(solverModule, repo("b-1"));
    const own = solver.addRepository("own");
    own.readRpm({ header, location: "own.rpm", sha256, sizeBytes: 123_456_789_012 });
    own.finish();
    solver.ready();
    expect(install(solver, "own")).toEqual(["b-1", "own-1.2-3.noarch"]);
    expect(solver.info("own")).toMatchObject({
      downloadSizeBytes: 123_456_789_012,
      checksum: { type: "sha256", value: sha256 },
      location: "own.rpm",
    });
  });
  it("is refused if it is cut off", async () => {
    const own = (await openSolver(solverModule)).addRepository("own");
    const cutOff = { header: header.subarray(0, header.length - 10), location: "own.rpm", sha256, sizeBytes: 1 };
    expect(() => own.readRpm(cutOff)).toThrow(UnreadableMetadata);
  });
});

interface Imported {
  names: string[];
  full: Uint8Array;
  solving: Uint8Array;
}

async function imported(xml: string, options = {}): Promise<Imported[]> {
  const parts: Imported[] = [];
  for await (const part of importedParts(await openSolver(solverModule), inChunks(xml, 1000), "primary", options)) {
    const names = [...part.pages()].flat().map(nevra);
    parts.push({ names, full: part.write("full"), solving: part.write("solving") });
  }
  return parts;
}

async function withParts(parts: readonly Uint8Array[]): Promise<Solver> {
  const solver = await openSolver(solverModule);
  const repository = solver.addRepository("main");
  for (const part of parts) repository.loadPart(part);
  solver.ready();
  return solver;
}
