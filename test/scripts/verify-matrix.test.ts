import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Catalogue } from "#model/catalogue";
import { readCatalogue } from "../../scripts/launch/catalogue-file.ts";
import { projectRoot } from "../../scripts/launch/project.ts";
import { matrixText, rowsOf, type MatrixRow, type Run } from "../../scripts/verify/matrix/file.ts";
import { imagesOf } from "../../scripts/verify/matrix/images.ts";
import { matrixNow, withRun } from "../../scripts/verify/matrix/matrix.ts";
import { matrixPage } from "../../scripts/verify/matrix/page.ts";
import { reportOf } from "../../scripts/verify/report.ts";

const catalogueFrom = (change: (catalogue: Catalogue) => void = () => {}): Catalogue => {
  const catalogue = Catalogue.parse(readCatalogue(join(projectRoot, "templates/debian-13.json")));
  change(catalogue);
  return catalogue;
};
const images = imagesOf(catalogueFrom());
const [image] = images;
if (image === undefined) throw new Error("there is no image");
const made = (configuration: string) =>
  images.filter((one) => one.configuration === configuration).map(({ format }) => format);
const page = (rows: MatrixRow[]) => matrixPage(rows, new Map([["debian-13", "Debian 13"]]));
const nothing = { matrix: "", reportOf: () => "" };

const startedAt = new Date("2026-11-27T03:10:00Z");
const machine = new Map([["Processor", "2 × Any"]]);
const step = (of: string, what: string, outcome: "passed" | "failed" = "passed") => ({
  of,
  what,
  outcome,
  ms: 12_345,
  detail: "seen",
});
const title = "Debian 13, Just enough OS (JeOS), oem";
const bootedBy = (...steps: ReturnType<typeof step>[]): MatrixRow => withRun(image, { startedAt, machine, steps });

describe("the matrix of images", () => {
  it.each(["matrix.jsonl", "matrix.md"])("is what %s has: otherwise run `npm run verify:matrix`", (name) => {
    const { text, page } = matrixNow();
    const written = readFileSync(join(projectRoot, "docs/verified", name), "utf8");
    expect(written === (name === "matrix.md" ? page : text), `${name} is out of date`).toBe(true);
  });

  it("has each image once, and of every catalogue", () => {
    const { rows } = matrixNow();
    const keys = rows.map(({ base, arch, template, format, configuration }) =>
      [base, arch, template, format, configuration].join("/"),
    );
    expect(new Set(keys).size).toBe(rows.length);
    expect(rows.length).toBeGreaterThanOrEqual(120);
    expect(new Set(rows.map(({ digest }) => digest)).size).toBe(rows.length);
  });

  it("omits what the base system, the format or the disk cannot have", () => {
    expect(made("xfs")).toEqual(["oem"]);
    expect(made("btrfs")).toEqual(["oem"]);
    expect(made("partitions")).toEqual(["oem", "oemiso"]);
    expect(made("secure-boot")).toEqual(["oem", "iso", "oemiso"]);
    expect(made("uefi")).toEqual(["oem", "iso", "oemiso"]);
  });

  it.each<[string, (catalogue: Catalogue) => void]>([
    ["a package", ({ sets }) => sets[0]?.templates[0]?.packages.push("vim")],
    ["a package of all disks", ({ baseSystem }) => baseSystem.needs.disk?.push("vim")],
    ["a repository", ({ repositories }) => void (repositories[0] && (repositories[0].url += "-x"))],
    [
      "a setting",
      ({ sets }) => void (sets[0]?.templates[0] && (sets[0].templates[0].configuration.settings.runlevel = 5)),
    ],
  ])("gives an image another digest with another %s", (_what, change) => {
    expect(imagesOf(catalogueFrom(change))[0]?.digest).not.toBe(image.digest);
    expect(imagesOf(catalogueFrom())[0]?.digest).toBe(image.digest);
  });
});

describe("a run", () => {
  const row = bootedBy(step("Debian 13", "import"), step(title, "build"), step(title, "boot in a testdrive"));

  it("is recorded at its image alone, with its time, machine and steps", () => {
    expect(row.run).toEqual({
      at: "2026-11-27 03:10",
      machine: { Processor: "2 × Any" },
      steps: ["build", "boot in a testdrive"].map((what) => ({ what, outcome: "passed", seconds: 12, seen: "seen" })),
    } satisfies Run);
    expect(bootedBy(step(`${title}, xfs`, "build")).run).toBeUndefined();
  });

  it("stays while its image stays the same, and goes with any change of it", () => {
    const earlier = { ...nothing, matrix: matrixText([row]) };
    expect(rowsOf([image], earlier)).toEqual([row]);
    expect(rowsOf([{ ...image, digest: "another" }], earlier)).toEqual([{ ...image, digest: "another" }]);
  });

  it.each([
    ["booted 2026-11-27", [row]],
    ["built 2026-11-27", [bootedBy(step(title, "build"))]],
    ["failed 2026-11-27", [bootedBy(step(title, "build"), step(title, "boot in a testdrive", "failed"))]],
  ])("is shown as %s", (cell, rows) => {
    expect(page(rows)).toContain(`| Just enough OS (JeOS) | ${cell} |`);
  });

  it("is only named by its day if just a report has it", () => {
    const report = reportOf({
      title: "Debian 13",
      command: "verify:base -- debian-13",
      startedAt,
      machine,
      steps: [step(title, "build")],
    });
    const rows = rowsOf([image], { ...nothing, reportOf: () => report });
    expect(rows).toEqual([{ ...image, reported: "2026-11-27 03:10" }]);
    expect(page(rows)).toContain("| Just enough OS (JeOS) | not since 2026-11-27 |");
    expect(page(rowsOf([image], nothing))).toContain("No run of any of them is recorded.");
  });
});
