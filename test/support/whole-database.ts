import { env } from "cloudflare:workers";

/** Tables in which the service counts its own work at times that tests cannot control. */
const ofService = ["counters", "chore_runs"];

/**
 * Every row of all other tables of both databases as text, in an order that does not depend on when they were written.
 */
export async function wholeDatabase(without: readonly string[] = []): Promise<Record<string, string[]>> {
  return { ...(await rowsOf(env.PACKAGES, without)), ...(await rowsOf(env.DB, without)) };
}

async function rowsOf(database: D1Database, without: readonly string[]): Promise<Record<string, string[]>> {
  const { results: tables } = await database
    .prepare(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\' AND sql NOT LIKE '%VIRTUAL%'",
    )
    .all<{ name: string }>();
  const names = tables.map(({ name }) => name).filter((name) => ![...ofService, ...without].includes(name));
  const found = await database.batch(names.map((name) => database.prepare(`SELECT * FROM "${name}"`)));
  return Object.fromEntries(
    names.map((name, at) => [name, (found[at]?.results ?? []).map((row) => JSON.stringify(row)).toSorted()]),
  );
}
