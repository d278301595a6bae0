import { and, asc, eq } from "drizzle-orm";
import type { Database } from "./db.ts";
import { accounts, agreements } from "./schema.ts";

/** An account's acceptance of one text of a base system. */
export type Acceptance = typeof agreements.$inferSelect;

export const findAcceptance = (
  db: Database,
  { accountId, baseSystem, textSha256 }: Omit<Acceptance, "acceptedAt">,
): Promise<Acceptance | undefined> =>
  db.query.agreements.findFirst({
    where: and(
      eq(agreements.accountId, accountId),
      eq(agreements.baseSystem, baseSystem),
      eq(agreements.textSha256, textSha256),
    ),
  });

/** Stores an acceptance. If it is repeated, the time of the first one stays. */
export async function addAcceptance(db: Database, acceptance: Acceptance): Promise<void> {
  await db.insert(agreements).values(acceptance).onConflictDoNothing();
}

/** The acceptances of all accounts, oldest first, with the accounts' names. */
export const listAllAcceptances = (db: Database) =>
  db
    .select({
      username: accounts.username,
      baseSystem: agreements.baseSystem,
      textSha256: agreements.textSha256,
      acceptedAt: agreements.acceptedAt,
    })
    .from(agreements)
    .innerJoin(accounts, eq(accounts.id, agreements.accountId))
    .orderBy(asc(agreements.acceptedAt), asc(accounts.username));
