import { faultsIn, wrongValues } from "#domain/configuration/check";
import { checkSshKeys } from "#domain/configuration/people";
import type { Account } from "#storage/accounts";
import { saveSshKeys } from "#storage/account-ssh-keys";
import type { Database } from "#storage/db";

const maxKeys = 20;

/** Replaces the SSH keys that an account adds to its appliances. Appliances that have a key keep it. */
export async function changeSshKeys(db: Database, { id }: Pick<Account, "id">, keys: readonly string[]): Promise<void> {
  const each = [...new Set(keys)];
  const faults = faultsIn((check) => checkSshKeys(check, each, { path: "ssh_keys", most: maxKeys }));
  if (faults.length > 0) throw wrongValues(faults);
  await saveSshKeys(db, id, each);
}
