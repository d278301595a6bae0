import { Buffer } from "node:buffer";
import { nvra } from "#lib/contract/index";
import type { Checksum } from "./checksum.ts";
import { parseChecksum } from "./checksum.ts";
import { RepodataFault } from "./fault.ts";
import { insideRepository } from "./location.ts";

interface Described {
  name: string;
  epoch: number;
  version: string;
  release: string;
  arch: string;
  /** Set if the package represents a pattern: it provides `pattern() = base`. */
  pattern?: string;
  summary: string;
  description: string;
}

/** A package in the search and in lists of installed software: one row per package and repository revision. */
export interface SearchRow extends Described {
  /** Size of the file to download. */
  sizeBytes: number;
  installedBytes: number;
  /** Checksum of the file. Only patterns of the older layout have no file. */
  checksum?: Checksum;
  /** Path of the file, relative to the repository and checked to be inside it. */
  location?: string;
}

/** A package as the solver lists it after reading a slice. */
export interface ListedPackage extends Described {
  downloadSizeBytes: number;
  installSizeBytes: number;
  checksum?: { type: string; value: string };
  location?: string;
}

/**
 * The row of a package that the solver lists. Because the rows come from the solver, no second XML parser is needed,
 * and search never shows a package that the solver does not know. A package without a checksum or a location could not
 * be downloaded.
 */
export function searchRow(listed: ListedPackage): SearchRow {
  const { checksum, location } = listed;
  if (checksum === undefined || location === undefined) {
    throw new RepodataFault("malformed_metadata", `${nvra(listed)} has no checksum or no location`);
  }
  return {
    ...described(listed),
    checksum: parseChecksum(checksum.type, checksum.value),
    location: insideRepository(location),
  };
}

/** The row of a pattern of the older layout, which is a package without a file, named `pattern:…`, in libsolv. */
export function patternRow(listed: ListedPackage & { pattern: string }): SearchRow {
  return { ...described(listed), name: listed.pattern };
}

const described = ({ name, epoch, version, release, arch, pattern, ...listed }: ListedPackage) => ({
  name,
  epoch,
  version,
  release,
  arch,
  ...(pattern !== undefined && { pattern }),
  summary: listed.summary,
  description: listed.description,
  sizeBytes: listed.downloadSizeBytes,
  installedBytes: listed.installSizeBytes,
});

/**
 * Rows as JSON arrays of at most `maxBytes`, for `INSERT … SELECT … FROM json_each(?1)`. D1 allows 100 bound parameters
 * per statement and values below 1 MB, so one parameter with many rows needs far fewer calls.
 */
export function* jsonBatches(rows: Iterable<unknown>, maxBytes: () => number): Generator<string> {
  let batch: string[] = [];
  let bytes = 2;
  for (const row of rows) {
    const json = JSON.stringify(row);
    const length = Buffer.byteLength(json) + 1;
    if (batch.length > 0 && bytes + length > maxBytes()) {
      yield `[${batch.join(",")}]`;
      batch = [];
      bytes = 2;
    }
    batch.push(json);
    bytes += length;
  }
  if (batch.length > 0) yield `[${batch.join(",")}]`;
}
