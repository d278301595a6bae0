import { eq } from "drizzle-orm";
import type { Database } from "./db.ts";
import { accounts, appliances, builds, testdrives } from "./schema.ts";

/** Whom a thing that happens belongs to. */
const owner = { accountId: accounts.id, account: accounts.username };

/** What an event tells of a build; undefined when its row, or its appliance's, is gone. */
export async function findBuildOfEvent(db: Database, buildId: number) {
  const [row] = await db
    .select({
      ...owner,
      applianceId: appliances.id,
      name: appliances.name,
      version: builds.version,
      imageType: builds.imageType,
    })
    .from(builds)
    .innerJoin(accounts, eq(accounts.id, builds.accountId))
    .innerJoin(appliances, eq(appliances.id, builds.applianceId))
    .where(eq(builds.id, buildId));
  return row;
}

/** What an event tells of a testdrive. */
export async function findTestdriveOfEvent(db: Database, testdriveId: number) {
  const [row] = await db
    .select({ ...owner, buildId: testdrives.buildId })
    .from(testdrives)
    .innerJoin(accounts, eq(accounts.id, testdrives.accountId))
    .where(eq(testdrives.id, testdriveId));
  return row;
}
