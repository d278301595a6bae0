import { eq } from "drizzle-orm";
import { entryOfAct } from "./audit-log.ts";
import type { Database } from "./db.ts";
import { fromNewRow } from "./inserts.ts";
import { accountSshKeys } from "./schema.ts";
import { listReachable, listTokens, type Reachable, type Token } from "./tokens.ts";

/** The SSH keys that an account has stored, in the account's order. */
export async function listSshKeys(db: Database, accountId: number): Promise<readonly string[]> {
  const [found] = await sshKeysOf(db, accountId);
  return found?.keys ?? [];
}

const sshKeysOf = (db: Database, accountId: number) =>
  db.select({ keys: accountSshKeys.keys }).from(accountSshKeys).where(eq(accountSshKeys.accountId, accountId));

/** The SSH keys and the tokens of an account, and the appliances that a token may be limited to. */
export async function readKeys(
  db: Database,
  accountId: number,
  mostReachable: number,
): Promise<{ sshKeys: readonly string[]; tokens: Token[]; reachable: Reachable[] }> {
  const [[found], tokens, reachable] = await db.batch([
    sshKeysOf(db, accountId),
    listTokens(db, accountId),
    listReachable(db, accountId, mostReachable),
  ]);
  return { sshKeys: found?.keys ?? [], tokens, reachable };
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
