import { RepodataFault } from "#repodata/fault";

/** What an import may make of an index; small ones open to a hundred times their size. */
export interface ImportLimits {
  packages: number;
  /** Of the rows that search reads: names, versions, summaries, descriptions. */
  bytes: number;
}

/** Of any import; the largest distributions have 70,000 packages with 50 MB of texts. */
export const importLimits: ImportLimits = { packages: 200_000, bytes: 128 * 2 ** 20 };

/** Of all .solv files of one import, which hold the relations; the solver takes four times as much for them. */
export const mostSolvBytes = 64 * 2 ** 20;

export function refuseMore(found: ImportLimits, most: ImportLimits): void {
  if (found.packages > most.packages) throw tooMuch(`${most.packages} packages`);
  if (found.bytes > most.bytes) throw tooMuch(`${megabytes(most.bytes)} MB of names and descriptions`);
}

export const tooMuch = (most: string) => new RepodataFault("too_large", `it has more than ${most}`);

const megabytes = (bytes: number) => Math.floor(bytes / 2 ** 20);
