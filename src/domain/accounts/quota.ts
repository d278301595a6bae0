import { Refusal } from "#domain/refusal";
import { usedBytes } from "#storage/accounts";
import type { Database } from "#storage/db";

const gigabyte = 1024 ** 3;

/** What an account may keep and what it keeps, in the words of wire.md §2.1. */
export async function diskQuota(db: Database, quotaGb: number, accountId: number) {
  const used = await usedBytes(db, accountId);
  return { available: `${quotaGb}GB`, used: `${Math.round((100 * used) / quotaBytes(quotaGb))}%` };
}

export const quotaBytes = (quotaGb: number): number => quotaGb * gigabyte;

/** What an account may still store; never negative. */
export async function leftBytes(db: Database, quotaGb: number, accountId: number): Promise<number> {
  return Math.max(0, quotaBytes(quotaGb) - (await usedBytes(db, accountId)));
}

/** The specification has no code for it. */
export const quotaExceeded = () =>
  new Refusal("unknown_error", {
    message:
      "Your disk quota does not allow this upload. Delete builds, uploaded RPMs or overlay files that you no longer need.",
  });
