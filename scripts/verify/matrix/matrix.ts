import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Catalogue } from "#model/catalogue";
import { readCatalogue } from "../../launch/catalogue-file.ts";
import { projectRoot } from "../../launch/project.ts";
import { type Step, timeOfRun, type Verified } from "../report.ts";
import { earlierInFiles, matrixFile, type MatrixRow, matrixText, rowsOf, type Run } from "./file.ts";
import { imagesOf, titleOf } from "./images.ts";
import { matrixPage, resultOf } from "./page.ts";

const templates = join(projectRoot, "templates");

const allCatalogues = (): Catalogue[] =>
  readdirSync(templates)
    .filter((file) => file.endsWith(".json"))
    .toSorted()
    .map((file) => Catalogue.parse(readCatalogue(join(templates, file))));

/** The matrix as it should be now: with the runs in the file, after `change`. */
export function matrixNow(change: (rows: MatrixRow[]) => MatrixRow[] = (rows) => rows) {
  const catalogues = allCatalogues();
  const rows = change(rowsOf(catalogues.flatMap(imagesOf), earlierInFiles()));
  const titles = new Map(catalogues.map(({ name, baseSystem }) => [name, baseSystem.title]));
  return { rows, text: matrixText(rows), page: matrixPage(rows, titles) };
}

export function writtenMatrix(change?: (rows: MatrixRow[]) => MatrixRow[]) {
  const matrix = matrixNow(change);
  writeFileSync(matrixFile, matrix.text);
  writeFileSync(join(projectRoot, "docs/verified/matrix.md"), matrix.page);
  return matrix;
}

/** Accepts the images of a base system that have the architecture of their template. Others are not tried. */
function isTried({ name, sets }: Catalogue): (row: MatrixRow) => boolean {
  const arches = new Map(sets.flatMap(({ templates }) => templates).map((template) => [template.name, template.arch]));
  return ({ base, arch, template }) => base === name && arch === arches.get(template);
}

/** Whether no run has booted the image of this title as it is now. */
export function notBootedYet(catalogue: Catalogue): (title: string) => boolean {
  const booted = matrixNow().rows.filter(({ run }) => run && resultOf(run) === "booted");
  const titles = new Set(booted.filter(isTried(catalogue)).map(titleOf));
  return (title) => !titles.has(title);
}

type Tried = Pick<Verified, "startedAt" | "machine" | "steps">;

/** Records for each image what its steps reached. */
export function addRuns(catalogue: Catalogue, tried: Tried): void {
  const isOwn = isTried(catalogue);
  writtenMatrix((rows) => rows.map((row) => (isOwn(row) ? withRun(row, tried) : row)));
}

/** An image that was not tried keeps its run. */
export function withRun(row: MatrixRow, { startedAt, machine, steps }: Tried): MatrixRow {
  const { reported: _, ...image } = row;
  const own = steps.filter(({ of }) => of === titleOf(row)).flatMap(recorded);
  if (own.length === 0) return row;
  return { ...image, run: { at: timeOfRun(startedAt), machine: Object.fromEntries(machine), steps: own } };
}

const recorded = ({ what, outcome, ms, detail }: Step): Run["steps"] =>
  outcome === "not possible" ? [] : [{ what, outcome, seconds: Math.round(ms / 1000), seen: detail }];
