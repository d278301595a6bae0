import { getAppliance } from "#domain/appliances/appliance";
import { withLinks, type LinkReader } from "#domain/builds/download-link";
import type { Appliance } from "#storage/appliances";
import type { Build } from "#storage/builds";
import { listEndedBuilds } from "#storage/builds-of-appliance";
import type { Database } from "#storage/db";

/** Which part of a list of builds to read: the newest ones, or with `before`, the newest ones with a smaller id. */
interface Part {
  before?: number | undefined;
  limit: number;
}

/** How many builds one call lists (compatibility.md, "Lists"). */
const maxListed = 1000;

/** The builds of an appliance that have ended, newest first. */
export async function listBuilds(
  db: Database,
  reader: LinkReader,
  { applianceId, before }: { applianceId: number; before?: number | undefined },
): Promise<Build[]> {
  const appliance = await getAppliance(db, reader.account.id, applianceId, "invalid");
  return await listBuildsOf(db, reader, { appliance, before, limit: maxListed });
}

/** The ended builds of an appliance that was already read, newest first. */
export const listBuildsOf = async (
  db: Database,
  reader: LinkReader,
  { appliance: { id, accountId }, ...part }: Part & { appliance: Pick<Appliance, "id" | "accountId"> },
): Promise<Build[]> => (accountId === null ? [] : withLinks(await listEndedBuilds(db, id, part), accountId, reader));
