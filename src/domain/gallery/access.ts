import { Refusal, type IdReason } from "#domain/refusal";
import { findAnyAppliance, type Appliance } from "#storage/appliances";
import type { Database } from "#storage/db";
import { findPublication, isPublished, type Publication } from "#storage/publications";

/**
 * A published version, by default the latest. Unpublished and unknown appliances are refused with different codes, even
 * for other accounts (compatibility.md, "Status codes").
 */
export async function getPublication(
  db: Database,
  accountId: number,
  {
    applianceId,
    version,
    reason = "unknown",
  }: { applianceId: number; version?: string | undefined; reason?: IdReason },
): Promise<Publication> {
  const found = await findPublication(db, applianceId, version);
  if (found) return found;
  if (!(await isPublished(db, applianceId))) await refuseUnpublished(db, accountId, { applianceId, version, reason });
  throw isVersion(version) ? notPublished(reason) : new Refusal("invalid_version");
}

/**
 * Refuses an appliance that is not published. For ratings and comments, which belong to the appliance and not to a
 * version.
 */
export async function refuseUnlessPublished(db: Database, accountId: number, applianceId: number): Promise<void> {
  if (!(await isPublished(db, applianceId))) await refuseUnpublished(db, accountId, { applianceId, reason: "unknown" });
}

async function refuseUnpublished(
  db: Database,
  accountId: number,
  { applianceId, version, reason }: { applianceId: number; version?: string | undefined; reason: IdReason },
): Promise<never> {
  const appliance = await getAnyAppliance(db, applianceId);
  if (appliance.accountId !== accountId) {
    throw new Refusal("access_denied", { message: "This appliance is not published." });
  }
  throw isVersion(version) ? notPublished(reason) : new Refusal("invalid_version");
}

/** Gets one of the account's appliances in order to publish it. */
export async function getOwnForGallery(
  db: Database,
  accountId: number,
  applianceId: number,
): Promise<Appliance & { accountId: number }> {
  const appliance = await getAnyAppliance(db, applianceId);
  if (appliance.accountId === accountId) return { ...appliance, accountId };
  throw new Refusal("access_denied", { message: "Only the owner of an appliance can publish it." });
}

export const notPublished = (reason: IdReason) => new Refusal("version_not_published", { reason });

/** Whether the text is a version such as `0.0.2`, or absent. Other text is refused with a different code. */
const isVersion = (text = "0.0.1"): boolean => /^\d{1,9}\.\d{1,9}\.\d{1,9}$/.test(text);

async function getAnyAppliance(db: Database, id: number): Promise<Appliance> {
  const appliance = await findAnyAppliance(db, id);
  if (!appliance) throw new Refusal("invalid_appliance_id", { reason: "unknown" });
  return appliance;
}
