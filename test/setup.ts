import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { vi } from "vitest";

// Test files share one workerd, as starting one costs seconds; each begins with empty storage.
const run = globalThis as { kilnFile?: number };
const file = (run.kilnFile ?? 0) + 1;
run.kilnFile = file;
if (file > 1) {
  vi.restoreAllMocks();
  vi.useRealTimers();
  await emptyStorage();
}
// In one batch, which takes half the time of a batch for each.
await env.DB.batch(env.TEST_MIGRATIONS.flatMap(({ queries }) => queries).map((query) => env.DB.prepare(query)));
// No id is used twice in one isolate, so whatever it has cached by id stays true.
await env.DB.prepare(
  "INSERT INTO sqlite_sequence (name, seq) SELECT name, ? FROM sqlite_master WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'",
)
  .bind((file - 1) * 100_000)
  .run();

/** A reset sometimes leaves the database as it was: in about one file of twenty. */
async function emptyStorage(): Promise<void> {
  const tables = env.DB.prepare("SELECT count(*) AS tables FROM sqlite_master");
  for (let tries = 0; tries < 10; tries += 1) {
    await reset();
    if ((await tables.first<number>("tables")) === 0) return;
  }
  throw new Error("the storage of the last test file cannot be emptied");
}
