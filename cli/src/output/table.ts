import type { Painter } from "./painter.ts";

type Cell = string | number | undefined;

/** The widest column. A longer cell shifts only the rest of its own row. */
const widest = 60;

/** A table in columns, for people. */
export function table(paint: Painter, headings: readonly string[], rows: readonly (readonly Cell[])[]): string {
  if (rows.length === 0) return "None.";
  const texts = [headings, ...rows].map((row) => row.map((cell) => visible(String(cell ?? "-"))));
  const widths = headings.map((_, column) =>
    Math.min(widest, Math.max(...texts.map((row) => row[column]?.length ?? 0))),
  );
  const lines = texts.map((row) =>
    row
      .map((text, column) => text.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
  return lines.map((line, index) => (index === 0 ? paint.bold(line) : line)).join("\n");
}

/** A list of names and values. */
export function facts(paint: Painter, all: Readonly<Record<string, Cell>>): string {
  const shown = Object.entries(all).filter(([, value]) => value !== undefined && value !== "");
  const width = Math.max(...shown.map(([name]) => name.length));
  return shown.map(([name, value]) => `${paint.bold(name.padEnd(width))}  ${visible(String(value))}`).join("\n");
}

/** Removes control characters: text from other users must not move the cursor, change colours or reverse text. */
export const visible = (text: string): string =>
  text
    .replaceAll(terminalOrder, "")
    .replaceAll(turns, "")
    .replaceAll(/[\u0000-\u001F\u007F-\u009F]+/g, " ");

/** JSON in which such characters are escaped, and so only a program reads them. */
export const inJson = (document: object): string =>
  JSON.stringify(document, null, 2).replaceAll(
    /[\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );

/** Removes characters that make a terminal show text in another order. Keeps colours and line ends. */
export const inOrder = (text: string): string => text.replaceAll(turns, "");

/** The explicit marks of Unicode's bidirectional algorithm (UAX 9), which change the order of displayed text. */
const turns = /[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g;

/** A control sequence of ECMA-48. */
const terminalOrder = /\u001B\[[0-?]*[ -/]*[@-~]/g;

/** Makes the control characters of several lines visible. */
export const visibleLines = (text: string): string => text.split(/\r?\n/).map(visible).join("\n");

/** `2026-11-22 18:53` for a time in ISO 8601. */
export const moment = (time: string | undefined): string | undefined => time?.slice(0, 16).replace("T", " ");

/** Undefined for an image that was not made. */
export const megabytes = (amount: number): string | undefined => (amount === 0 ? undefined : `${amount} MB`);

/** `1.5 GB` for a number of bytes. */
export function bytes(amount: number): string {
  const units = ["B", "kB", "MB", "GB", "TB"];
  let size = amount;
  let unit = 0;
  for (; size >= 1000 && unit < units.length - 1; unit++) size /= 1000;
  return `${unit === 0 || size >= 100 ? Math.round(size) : size.toFixed(1)} ${units[unit]}`;
}

/** `1 package`, `3 packages`. */
export const count = (amount: number, thing: string): string => `${amount} ${thing}${amount === 1 ? "" : "s"}`;
