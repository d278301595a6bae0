import type { Services } from "#domain/services";
import { Refusal } from "#domain/refusal";
import { findQuotaGb, saveQuotaGb, usedBytes, usedBytesByKind, type Account } from "#storage/accounts";
import type { Database } from "#storage/db";

const gigabyte = 1024 ** 3;

export type QuotaEnv = Pick<Env, "ACCOUNT_QUOTA_GB">;

/** The quota of an account in GB: its own, or the default for all accounts. */
export const quotaGbOf = (env: QuotaEnv, { quotaGb }: Pick<Account, "quotaGb">): number =>
  quotaGb ?? Number(env.ACCOUNT_QUOTA_GB);

/** The quota of an account and how much of it is used, in the format of compatibility.md, "Accounts". */
export async function diskQuota({ env, db }: Services<QuotaEnv>, account: Account) {
  const used = await usedBytes(db, account.id);
  const most = Math.floor(quotaGbOf(env, account) * gigabyte);
  const percent = most === 0 ? 100 : Math.round((100 * used) / most);
  return { available: `${quotaGbOf(env, account)}GB`, used: `${percent}%` };
}

/** The quota and its use in bytes, with the bytes of each kind of data. */
export async function diskUseByKind({ env, db }: Services<QuotaEnv>, account: Account) {
  const kinds = await usedBytesByKind(db, account.id);
  const used = Object.values(kinds).reduce((sum, bytes) => sum + bytes, 0);
  return { used, most: Math.floor(quotaGbOf(env, account) * gigabyte), kinds };
}

/** The quota of an account in bytes. Read from the database each time, so that a change takes effect immediately. */
export async function quotaBytes({ env, db }: Services<QuotaEnv>, accountId: number): Promise<number> {
  return quotaGbOf(env, { quotaGb: await findQuotaGb(db, accountId) }) * gigabyte;
}

/** The bytes that an account may still store. Never negative. */
export async function leftBytes(services: Services<QuotaEnv>, accountId: number): Promise<number> {
  const [most, used] = await Promise.all([quotaBytes(services, accountId), usedBytes(services.db, accountId)]);
  return Math.max(0, most - used);
}

/** Gives an account its own quota, or the default if `quotaGb` is null. Everything that is already stored stays. */
export const setQuota = (db: Database, account: Account, quotaGb: number | null): Promise<void> =>
  saveQuotaGb(db, account.id, quotaGb);

/** The refusal if the quota is exceeded. The specification has no code for it. */
export const quotaExceeded = () =>
  new Refusal("unknown_error", {
    message:
      "Your disk quota does not allow this upload. Delete builds, uploaded packages or overlay files that you no longer need.",
  });
