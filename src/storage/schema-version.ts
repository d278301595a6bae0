import { sql } from "drizzle-orm";
import journal from "../../migrations/meta/_journal.json";
import type { Database } from "./db.ts";

/** The last migration that this code knows. */
const newest = `${journal.entries.at(-1)?.tag}.sql`;

/** The name of the last migration, if the database lacks it. wrangler and the launcher record them in d1_migrations. */
export async function missingMigration(db: Database): Promise<string | undefined> {
  const found = await db.get(sql`SELECT id FROM d1_migrations WHERE name = ${newest}`);
  return found === undefined ? newest : undefined;
}
