import { asc, eq, getTableColumns, isNotNull } from "drizzle-orm";
import type { Database } from "./db.ts";
import type { Repository } from "./repositories.ts";
import { accounts, repositories } from "./schema.ts";

/** Those of accounts whose last check failed, and whose they are. */
export const listTroubled = (db: Database, limit: number): Promise<(Repository & { username: string })[]> =>
  db
    .select({ ...getTableColumns(repositories), username: accounts.username })
    .from(repositories)
    .innerJoin(accounts, eq(accounts.id, repositories.accountId))
    .where(isNotNull(repositories.problem))
    .orderBy(asc(repositories.id))
    .limit(limit);
