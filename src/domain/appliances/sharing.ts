import { getAppliance, getOwnAppliance } from "#domain/appliances/appliance";
import { Refusal } from "#domain/refusal";
import { findAccount, type Account } from "#storage/accounts";
import type { Appliance } from "#storage/appliances";
import type { Database } from "#storage/db";
import { addReader, listReaders, removeReader } from "#storage/shares";

/**
 * The names of the accounts that an appliance is shared with. Only its owner may see them. A template is available to
 * everyone.
 */
export interface Sharing {
  applianceId: number;
  usernames: string[];
}

export async function getSharing(db: Database, { id: accountId }: Account, applianceId: number): Promise<Sharing> {
  const appliance = await getAppliance(db, accountId, applianceId);
  if (appliance.accountId !== null && appliance.accountId !== accountId) throw new Refusal("access_denied");
  return await sharingOf(db, appliance);
}

/**
 * Allows an account to read and clone the appliance. Repeating it changes nothing, and neither does naming the owner.
 */
export async function share(
  db: Database,
  { id: accountId }: Account,
  { applianceId, username }: { applianceId: number; username: string },
): Promise<Sharing> {
  const appliance = await getOwnAppliance(db, accountId, applianceId);
  const reader = await getReader(db, username);
  if (reader.id !== accountId) await addReader(db, applianceId, reader.id);
  return await sharingOf(db, appliance);
}

/** Stops sharing an appliance with an account. Existing clones stay. */
export async function unshare(
  db: Database,
  { id: accountId }: Account,
  { applianceId, username }: { applianceId: number; username: string },
): Promise<Sharing> {
  const appliance = await getOwnAppliance(db, accountId, applianceId);
  await removeReader(db, applianceId, (await getReader(db, username)).id);
  return await sharingOf(db, appliance);
}

async function getReader(db: Database, username: string): Promise<Account> {
  const account = await findAccount(db, username);
  if (!account) throw new Refusal("invalid_username");
  return account;
}

const sharingOf = async (db: Database, { id }: Appliance): Promise<Sharing> => ({
  applianceId: id,
  usernames: await listReaders(db, id),
});
