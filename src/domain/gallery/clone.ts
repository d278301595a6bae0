import { forOtherAccount } from "#domain/configuration/secrets";
import type { Services } from "#domain/services";
import type { EncryptionKey } from "#domain/secrets";
import { configurationOf, type Configuration } from "#lib/configuration/stored";
import type { Account } from "#storage/accounts";
import { findTemplateConfiguration } from "#storage/configurations";
import type { Build } from "#storage/builds";
import type { Database } from "#storage/db";
import type { UseKind } from "#storage/gallery-listings";
import { addUse } from "#storage/gallery-opinions";
import { findPublisher, type Publication } from "#storage/publications";

/** Counts a use towards the popularity, unless the user is the owner. */
export async function noteUse(
  db: Database,
  account: Pick<Account, "id">,
  { applianceId, accountId }: Pick<Publication, "applianceId" | "accountId">,
  kind: UseKind,
): Promise<void> {
  if (account.id !== accountId) await addUse(db, { applianceId, accountId: account.id, kind });
}

/** The configuration that a clone starts with: the published one, without its publisher's passwords. */
export async function configurationForClone(
  { env, db }: Services<EncryptionKey>,
  { applianceId, definition }: Publication,
): Promise<Configuration> {
  const stored = configurationOf(definition);
  return await forOtherAccount(env, stored, await findTemplateConfiguration(db, applianceId));
}

/**
 * Counts a download of a published image by another account. A download through the owner's link does not reveal the
 * account.
 */
export async function noteDownload(
  db: Database,
  { applianceId, version }: Pick<Build, "applianceId" | "version">,
  readerId: number | undefined,
): Promise<void> {
  if (readerId === undefined) return;
  const owner = await findPublisher(db, applianceId, version);
  if (owner !== undefined) await noteUse(db, { id: readerId }, { applianceId, accountId: owner }, "download");
}
