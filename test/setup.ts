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
// One batch takes half the time of one batch per table.
await env.DB.batch([
  ...env.TEST_MIGRATIONS.flatMap(({ queries }) => queries).map((query) => env.DB.prepare(query)),
  // In the same form in which wrangler and the launcher record them.
  env.DB.prepare("CREATE TABLE d1_migrations (id INTEGER PRIMARY KEY, name TEXT UNIQUE)"),
  ...env.TEST_MIGRATIONS.map(({ name }) => env.DB.prepare("INSERT INTO d1_migrations (name) VALUES (?)").bind(name)),
]);
// Ids are not reused in an isolate, so anything that is cached by id stays valid.
await env.DB.prepare(
  "INSERT INTO sqlite_sequence (name, seq) SELECT name, ? FROM sqlite_master WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'",
)
  .bind((file - 1) * 100_000)
  .run();

/**
 * In about one of twenty files, a reset leaves the database unchanged. A test has also found packages in the bucket
 * that an earlier file had published.
 */
async function emptyStorage(): Promise<void> {
  const tables = env.DB.prepare("SELECT count(*) AS tables FROM sqlite_master");
  for (let tries = 0; tries < 10; tries += 1) {
    await reset();
    const [left, { objects }] = await Promise.all([tables.first<number>("tables"), env.BLOBS.list({ limit: 1 })]);
    if (left === 0 && objects.length === 0) return;
  }
  throw new Error("the storage of the last test file cannot be emptied");
}
