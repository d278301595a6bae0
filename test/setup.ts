import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { vi } from "vitest";

// It takes seconds to start workerd, so test files share one. Each file starts with empty storage.
const run = globalThis as { kilnFile?: number };
const file = (run.kilnFile ?? 0) + 1;
run.kilnFile = file;
if (file > 1) {
  vi.restoreAllMocks();
  vi.useRealTimers();
  await emptyStorage();
}
/** Statements that make the packages' database. */
const isOfPackages = (query: string): boolean => /\b(?:TABLE|ON) `(?:packages|packages_fts|name_pages)`/.test(query);
// Each database gets only its own tables, so that a statement that is sent to the wrong one fails.
await Promise.all([migrate(env.DB, (query) => !isOfPackages(query)), migrate(env.PACKAGES, isOfPackages)]);

async function migrate(database: D1Database, isWanted: (query: string) => boolean): Promise<void> {
  const queries = env.TEST_MIGRATIONS.flatMap((one) => one.queries).filter(isWanted);
  // One batch takes half the time of one batch per table.
  await database.batch([
    ...queries.map((query) => database.prepare(query)),
    // In the same form in which wrangler and the launcher record them.
    database.prepare("CREATE TABLE d1_migrations (id INTEGER PRIMARY KEY, name TEXT UNIQUE)"),
    ...env.TEST_MIGRATIONS.map(({ name }) =>
      database.prepare("INSERT INTO d1_migrations (name) VALUES (?)").bind(name),
    ),
    // Ids are not reused in an isolate, so anything that is cached by id stays valid.
    database
      .prepare(
        "INSERT INTO sqlite_sequence (name, seq) SELECT name, ? FROM sqlite_master WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'",
      )
      .bind((file - 1) * 100_000),
  ]);
}

/**
 * In about one of twenty files, a reset leaves the database unchanged. A test has also found packages in the bucket
 * that an earlier file had published.
 */
async function emptyStorage(): Promise<void> {
  const tables = [env.DB, env.PACKAGES].map((each) => each.prepare("SELECT count(*) AS tables FROM sqlite_master"));
  for (let tries = 0; tries < 10; tries += 1) {
    await reset();
    const left = await Promise.all(tables.map((each) => each.first<number>("tables")));
    const { objects } = await env.BLOBS.list({ limit: 1 });
    if (left.every((count) => count === 0) && objects.length === 0) return;
  }
  throw new Error("the storage of the last test file cannot be emptied");
}
