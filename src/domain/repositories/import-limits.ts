import type { Services } from "#domain/services";
import { type LimitsEnv, usedLimits } from "#domain/accounts/limits";
import { RepodataFault } from "#lib/repodata/fault";
import { findImport } from "#storage/imports";
import type { Repository } from "#storage/repositories";

/** How much an import may store. A small compressed index may expand to a hundred times its size. */
export interface ImportLimits {
  packages: number;
  /** The size of the rows that search reads: names, versions, summaries, descriptions. */
  bytes: number;
}

/** The limits of every import. The largest distributions have 70,000 packages with 50 MB of texts. */
export const importLimits: ImportLimits = { packages: 200_000, bytes: 128 * 2 ** 20 };

/**
 * The limit for all .solv files of one import, which contain the relations. The solver needs four times as much memory
 * for them.
 */
export const maxSolvBytes = 64 * 2 ** 20;

/**
 * How much an import of this repository may store: at most the remaining part of its account's limit, plus what the
 * repository shows now. Two imports of an account may run at the same time, so one of them may exceed the limit.
 */
export async function limitsFor({ env, db }: Services<LimitsEnv>, repository: Repository): Promise<ImportLimits> {
  const { accountId, importId } = repository;
  if (accountId === null) return importLimits;
  const { used, most } = await usedLimits({ env, db }, accountId);
  const now = importId === null ? undefined : await findImport(db, importId);
  return {
    packages: Math.min(importLimits.packages, most.packages - used.packages + (now?.packageCount ?? 0)),
    bytes: Math.min(importLimits.bytes, most.repositoryBytes - used.repositoryBytes + (now?.bytes ?? 0)),
  };
}

export function refuseMore(found: ImportLimits, most: ImportLimits): void {
  if (found.packages > most.packages) throw tooMuch(`${atLeast0(most.packages)} packages${whose("packages", most)}`);
  if (found.bytes > most.bytes) {
    const megabytes = Math.floor(atLeast0(most.bytes) / 2 ** 20);
    throw tooMuch(`${megabytes} MB of names and descriptions${whose("bytes", most)}`);
  }
}

const whose = (name: keyof ImportLimits, most: ImportLimits) =>
  most[name] < importLimits[name] ? ", which is what your account has left" : "";

export const tooMuch = (most: string) => new RepodataFault("too_large", `it has more than ${most}`);

const atLeast0 = (count: number) => Math.max(0, count);
