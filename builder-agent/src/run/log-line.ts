import { withoutSecrets } from "./secrets.ts";

/** One line of KIWI's log. A line without a head continues the record before it. */
export type LogLine =
  | { kind: "record"; level: "DEBUG" | "INFO" | "WARNING" | "ERROR"; text: string }
  | { kind: "continuation"; text: string };

export function parseLogLine(line: string): LogLine {
  const found = /^\[ (DEBUG|INFO|WARNING|ERROR) *\]: [\d:]+ \| (.*)$/.exec(line);
  const level = found?.[1];
  if (found === null || !isLevel(level)) return { kind: "continuation", text: line };
  return { kind: "record", level, text: found[2] ?? "" };
}

/** One of our own lines, in KIWI's format. */
export const ownLine = (text: string, at: Date): string => record("INFO   ", `Kiln: ${text}`, at);

/** One of our own lines about something in the image that its owner should know: the Worker lists it above the log. */
export const findingLine = (text: string, at: Date): string => record("WARNING", `kiln: note: ${text}`, at);

const record = (level: string, text: string, at: Date): string =>
  `[ ${level} ]: ${at.toISOString().slice(11, 19)} | ${withoutSecrets(text)}`;

/**
 * A report of zypper, or of debootstrap and apt, about a package. "system" is the second transaction, by the image's
 * own package manager. apt's total counts packages, not bytes, and each package takes two steps.
 */
export type PackageLine =
  | { kind: "total"; downloadBytes: number; unpackedBytes: number }
  | { kind: "retrieved"; name: string; nth: number; of: number; downloadBytes: number; unpackedBytes: number }
  | { kind: "installed"; name: string; nth: number; of: number }
  | { kind: "step"; name: string };

export function parsePackageLine(text: string): PackageLine | undefined {
  return total(text) ?? retrieved(text) ?? installed(text) ?? aptTotal(text) ?? aptStep(text);
}

// An image's scripts can write such lines too, so each pattern reads a line in linear time and no number becomes NaN.
const size = String.raw`\d{1,15}(?:\.\d{1,15})? *[KMGT]?i?B`;
const overall = new RegExp(
  String.raw`^(?:bootstrap|system): Overall download size: (${size})\..* additional (${size}) will be used`,
);

function total(text: string): PackageLine | undefined {
  const found = overall.exec(text);
  if (found === null) return undefined;
  return { kind: "total", downloadBytes: bytesOf(found[1]), unpackedBytes: bytesOf(found[2]) };
}

// zypper 1.14.40 writes "Retrieving package NAME (1/21), 10 KiB (…)", later ones "Retrieving: NAME (REPOSITORY) (1/21),
// 10 KiB".
const retrieving = new RegExp(
  String.raw`^(?:bootstrap|system): Retrieving(?: package|:) (\S+)(?: \([^)]*\))? +\( *(\d+)\/(\d+)\), +(${size})(?: +\( *(${size}) unpacked\))?`,
);

function retrieved(text: string): PackageLine | undefined {
  const found = retrieving.exec(text);
  if (found === null) return undefined;
  const [, name = "", nth, of, download, unpacked = "0 B"] = found;
  const sizes = { downloadBytes: bytesOf(download), unpackedBytes: bytesOf(unpacked) };
  return { kind: "retrieved", name, nth: Number(nth), of: Number(of), ...sizes };
}

function installed(text: string): PackageLine | undefined {
  const found = /^(?:bootstrap|system): \( *(\d+)\/(\d+)\) Installing: (\S+)/.exec(text);
  if (found === null) return undefined;
  return { kind: "installed", nth: Number(found[1]), of: Number(found[2]), name: found[3] ?? "" };
}

function aptTotal(text: string): PackageLine | undefined {
  const found = /^system: \d{1,9} upgraded, (\d{1,9}) newly installed, /.exec(text);
  return found === null
    ? undefined
    : { kind: "total", downloadBytes: Number(found[1]), unpackedBytes: Number(found[1]) };
}

function aptStep(text: string): PackageLine | undefined {
  const found =
    /^(?:bootstrap: I: (?:Unpacking|Configuring)|system: (?:Unpacking|Setting up)) ([a-z0-9][a-z0-9+.-]*)/.exec(text);
  return found === null ? undefined : { kind: "step", name: (found[1] ?? "").replace(/\.+$/, "") };
}

const units: Record<string, number> = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3, TiB: 1024 ** 4 };

function bytesOf(size = "0 B"): number {
  const [, number = "0", unit = "B"] = /^([\d.]+) *(\w+)$/.exec(size) ?? [];
  return Number(number) * (units[unit] ?? 1);
}

function isLevel(word: string | undefined): word is "DEBUG" | "INFO" | "WARNING" | "ERROR" {
  return word === "DEBUG" || word === "INFO" || word === "WARNING" || word === "ERROR";
}
