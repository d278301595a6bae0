import { applyD1Migrations, reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { vi } from "vitest";

// Test files share one workerd, as starting one costs seconds; each begins with empty storage.
const run = globalThis as { kilnFile?: number };
const file = (run.kilnFile ?? 0) + 1;
run.kilnFile = file;
const isFirst = file === 1;
if (!isFirst) {
  vi.restoreAllMocks();
  vi.useRealTimers();
  await reset();
}
await applyD1Migrations(env.DB, env.TEST_MIGRATIONS);
if (!isFirst) {
  // No id is used twice in one isolate, so whatever it has cached by id stays true.
  const { results } = await env.DB.prepare(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%AUTOINCREMENT%'",
  ).all<{ name: string }>();
  await env.DB.batch(
    results.map(({ name }) =>
      env.DB.prepare("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)").bind(name, file * 100_000),
    ),
  );
}
