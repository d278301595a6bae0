import { usedBytes } from "#storage/accounts";
import type { Database } from "#storage/db";

const gigabyte = 1024 ** 3;

/** What an account may keep and what it keeps, in the words of wire.md §2.1. */
export async function diskQuota(db: Database, quotaGb: number, accountId: number) {
  const used = await usedBytes(db, accountId);
  return { available: `${quotaGb}GB`, used: `${Math.round((100 * used) / (quotaGb * gigabyte))}%` };
}
