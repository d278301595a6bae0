import { nvra } from "#contract/index";
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
  /** Set when the package stands for a pattern: it provides `pattern() = base`. */
  pattern?: string;
  summary: string;
  description: string;
}

/** A package as the search and the lists of installed software show it: one row per package and repository revision. */
export interface SearchRow extends Described {
  /** Of the file to download. */
  sizeBytes: number;
  installedBytes: number;
  /** Of the file, which only patterns of the older layout do not have. */
  checksum?: Checksum;
  /** Of the file, relative to the repository; checked: never outside it. */
  location?: string;
}

/** A package as the solver's pool lists it after it has read a slice. */
export interface ListedPackage extends Described {
  downloadSizeBytes: number;
  installSizeBytes: number;
  checksum?: { type: string; value: string };
  location?: string;
}

/**
 * The row of a package in the pool. The pool has parsed the slice anyway, so that no second XML parser reads it, and search
 * can never show what the solver does not know. Without a checksum or a location nothing could be downloaded and checked.
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

/** The row of a pattern of the older layout: to libsolv a package called `pattern:…`, of which there is no file. */
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
 * Rows as JSON arrays of at most `maxBytes`, for `INSERT … SELECT … FROM json_each(?1)`: D1 takes 100 bound parameters a
 * statement and values below 1 MB, so one parameter that holds many rows is forty times fewer calls.
 */
export function* jsonBatches(rows: Iterable<unknown>, maxBytes = 900_000): Generator<string> {
  let batch: string[] = [];
  let bytes = 2;
  for (const row of rows) {
    const json = JSON.stringify(row);
    const length = new TextEncoder().encode(json).byteLength + 1;
    if (batch.length > 0 && bytes + length > maxBytes) {
      yield `[${batch.join(",")}]`;
      batch = [];
      bytes = 2;
    }
    batch.push(json);
    bytes += length;
  }
  if (batch.length > 0) yield `[${batch.join(",")}]`;
}
