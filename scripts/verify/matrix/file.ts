import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { projectRoot } from "../../launch/project.ts";
import { tablesIn } from "../tables.ts";
import { titleOf, type TriedImage } from "./images.ts";

const Run = z.object({
  /** In UTC, such as `2026-11-27 03:10`. */
  at: z.string(),
  /** Facts about the machine that it ran on, and versions of programs. */
  machine: z.record(z.string(), z.string()),
  steps: z.array(
    z.object({ what: z.string(), outcome: z.enum(["passed", "failed"]), seconds: z.number(), seen: z.string() }),
  ),
});
export type Run = z.infer<typeof Run>;

const KnownImage = z.object({
  base: z.string(),
  arch: z.string(),
  template: z.string(),
  format: z.string(),
  configuration: z.string(),
  digest: z.string(),
  /** The last run of exactly this image. */
  run: Run.optional(),
});
type KnownImage = z.infer<typeof KnownImage>;

/** An image and its last run. Without a run, `reported` is the time of the last one in the report that has its name. */
export type MatrixRow = TriedImage & { run?: Run | undefined; reported?: string | undefined };

/** The rows that earlier runs have written. */
export interface Earlier {
  /** The text of the matrix. */
  matrix: string;
  /** The text of a base system's report. */
  reportOf: (base: string) => string;
}

const verified = join(projectRoot, "docs/verified");
export const matrixFile = join(verified, "matrix.jsonl");
const textIn = (path: string): string => (existsSync(path) ? readFileSync(path, "utf8") : "");

export const earlierInFiles = (): Earlier => ({
  matrix: textIn(matrixFile),
  reportOf: (base) => textIn(join(verified, `${base}.md`)),
});

/**
 * Joins the images as they are now with their runs. A report may be about an earlier state of an image, and nothing in
 * it shows that.
 */
export function rowsOf(images: readonly TriedImage[], { matrix, reportOf }: Earlier): MatrixRow[] {
  const lines = matrix.split("\n").filter((line) => line !== "");
  const known = new Map(lines.map((line) => KnownImage.parse(JSON.parse(line))).map((one) => [keyOf(one), one]));
  const reports = new Map(images.map(({ base }) => [base, timesIn(reportOf(base))]));
  return images.map((image) => {
    const before = known.get(keyOf(image));
    if (before?.run && before.digest === image.digest) return { ...image, run: before.run };
    const reported = reports.get(image.base)?.get(titleOf(image));
    return { ...image, ...(reported !== undefined && { reported }) };
  });
}

/** The time of the last run of each image in a report. */
const timesIn = (report: string): Map<string, string> =>
  new Map(tablesIn(report).flatMap((lines) => lines.flatMap(({ What, Run }) => (What && Run ? [[What, Run]] : []))));

const keyOf = ({ base, arch, template, format, configuration }: Omit<KnownImage, "digest">): string =>
  [base, arch, template, format, configuration].join("/");

/** The file's text. Each image has its own line, so that changes of two of them can be merged. */
export const matrixText = (rows: readonly MatrixRow[]): string =>
  rows.map((row) => `${JSON.stringify(row)}\n`).join("");
