import { imageFormats, type ImageType, type Product, productNames } from "#lib/contract/index";
import { table } from "../tables.ts";
import { configurations } from "./configurations.ts";
import type { MatrixRow, Run } from "./file.ts";

/** The page that people read. `titles` are those of the base systems, by name. */
export function matrixPage(rows: readonly MatrixRow[], titles: ReadonlyMap<string, string>): string {
  const booted = rows.filter(({ run }) => run && resultOf(run) === "booted").length;
  const parts = [...titles].map(([base, title]) =>
    part(
      title,
      rows.filter((row) => row.base === base),
    ),
  );
  return [
    "# What was built and booted, image by image",
    "",
    "Written by `npm run verify:matrix`. Each line of [matrix.jsonl](matrix.jsonl) is an image, with the digest of all that Kiln decides",
    "about it, and the run that tried it: time, machine, steps and results. When Kiln changes so that the image changes, the run is removed.",
    `Of ${rows.length} images, ${booted} booted as they are now. [Base systems](../base-systems.md) lists earlier runs.`,
    "",
    "| Cell | Meaning |",
    "| --- | --- |",
    "| booted, built, failed | what the last run of exactly this image reached, and its day |",
    "| not since | that day's report is of an image with this name, which may have changed since |",
    "| never | no run is recorded |",
    "| empty | Kiln does not make it, or it is the same image as in the first line |",
    "",
    ...parts,
  ].join("\n");
}

const others = "Other formats";

/** The part about a base system. Without any run, it is one sentence. */
function part(title: string, rows: readonly MatrixRow[]): string {
  const heading = `## ${title}\n\n`;
  if (rows.every(({ run, reported }) => !run && reported === undefined))
    return `${heading}It has ${rows.length} images. No run of any of them is recorded.\n`;
  const products = productNames.flatMap((product) => firstOf(product, rows) ?? []);
  const arches = new Set(rows.map(({ arch }) => arch));
  const lines = Map.groupBy(rows, ({ template, configuration, arch }) =>
    [template.replace(`${title}, `, ""), configurations[configuration].label, arches.size > 1 ? arch : ""]
      .filter((text) => text !== "")
      .join(", "),
  );
  const head = ["Image", ...products.map((format) => `\`${format}\``), others];
  const cells = [...lines].map(([name, line]) => ({
    Image: name,
    ...Object.fromEntries(line.map((row) => [`\`${row.format}\``, cellOf(row)])),
    [others]: countOf(line.filter(({ format }) => !products.includes(format))),
  }));
  return `${heading}${table(head, cells)}\n`;
}

const firstOf = (product: Product, rows: readonly MatrixRow[]): ImageType | undefined =>
  rows.find(({ format }) => imageFormats[format].product === product)?.format;

function cellOf({ run, reported }: MatrixRow): string {
  if (run) return `${resultOf(run)} ${dayOf(run.at)}`;
  return reported === undefined ? "never" : `not since ${dayOf(reported)}`;
}

const dayOf = (time: string): string => time.slice(0, "2026-11-27".length);

/** The furthest stage that a run reached. */
export function resultOf({ steps }: Run): "failed" | "booted" | "built" {
  if (steps.some(({ outcome }) => outcome === "failed")) return "failed";
  return steps.some(({ what }) => what.startsWith("boot")) ? "booted" : "built";
}

function countOf(rows: readonly MatrixRow[]): string {
  if (rows.length === 0) return "";
  const booted = rows.filter(({ run }) => run && resultOf(run) === "booted").length;
  return `${booted} of ${rows.length} booted`;
}
