import { eq } from "drizzle-orm";
import { entryOfAct } from "./audit-log.ts";
import type { Database } from "./db.ts";
import { fromNewRow } from "./inserts.ts";
import { accountSshKeys } from "./schema.ts";

/** The SSH keys that an account has stored, in the account's order. */
export async function listSshKeys(db: Database, accountId: number): Promise<readonly string[]> {
  const found = await db.query.accountSshKeys.findFirst({ where: eq(accountSshKeys.accountId, accountId) });
  return found?.keys ?? [];
}

/** Replaces all SSH keys of an account. */
export async function saveSshKeys(db: Database, accountId: number, keys: readonly string[]): Promise<void> {
  await db.batch([
    db
      .insert(accountSshKeys)
      .values({ accountId, keys })
      .onConflictDoUpdate({ target: accountSshKeys.accountId, set: fromNewRow(accountSshKeys, ["keys"]) }),
    ...entryOfAct(db),
  ]);
}
