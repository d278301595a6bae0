import { and, eq, isNull, sql } from "drizzle-orm";
import type { Account } from "./accounts.ts";
import type { Build } from "./builds.ts";
import type { Database } from "./db.ts";
import { accounts, builds } from "./schema.ts";
import { isPublishedImage } from "./visible-builds.ts";

/** The account that owns a download link, and the build of the link. */
export interface LinkNames {
  buildId: number;
  accountId: number;
  /** Null if the link was created with the account's key. */
  tokenId: number | null;
}

/**
 * The build of a link, and the account that received the link. Undefined if there is no such build or account, the
 * account is locked, its token is revoked or has expired, or the account may no longer read the build.
 */
export async function findLinked(
  db: Database,
  { buildId, accountId, tokenId }: LinkNames,
  now: Date,
): Promise<{ build: Build; account: Account } | undefined> {
  const hasToken = sql`EXISTS (SELECT 1 FROM tokens WHERE tokens.id = ${tokenId} AND tokens.account_id = ${accountId}
    AND (tokens.expires_at IS NULL OR tokens.expires_at > ${now.getTime()}))`;
  const mayRead = sql`(${builds.accountId} = ${accountId} OR EXISTS (
    SELECT 1 FROM shares WHERE shares.appliance_id = ${builds.applianceId} AND shares.account_id = ${accountId})
    OR ${isPublishedImage})`;
  const [found] = await db
    .select({ build: builds, account: accounts })
    .from(builds)
    .innerJoin(accounts, and(eq(accounts.id, accountId), isNull(accounts.lockedAt), isNull(accounts.removedAt)))
    .where(
      and(
        eq(builds.id, buildId),
        eq(builds.status, "finished"),
        isNull(builds.retiredAt),
        mayRead,
        tokenId === null ? undefined : hasToken,
      ),
    );
  return found;
}
