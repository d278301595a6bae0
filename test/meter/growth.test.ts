import { env } from "cloudflare:workers";
import { beforeAll, expect, it, vi } from "vitest";
import { bounded, fill, growingTables } from "./growth/fill.ts";
import { rowsRead, type RowsRead } from "./growth/rows-read.ts";
import { addHistory, doAll, theWorld } from "./growth/scenarios.ts";

const [few, many] = [1000, 100_000];
/** Any statement may read this many additional rows. */
const slack = 100;

/** Statements that read more rows as data grows, by a part of their text, with the limit of each. */
const known: Readonly<Record<string, string>> = {
  "FROM gallery_listings AS l JOIN found ON":
    "the appliances in the gallery that a search finds, which it counts and ranks",
  'from "agents" "agents" order by': "the agents, each of which is a machine",
  'from "imports" where "imports"."id" > ?': "500 imports at a time",
};

let grown: readonly string[];
// Millions of rows take 40 s, and several minutes on a busy machine.
beforeAll(async () => {
  const world = await theWorld();
  await doAll(world); // fills caches
  await fill({ from: 0, to: few });
  await addHistory(world, { from: 0, to: few });
  const before = await rowsRead(() => doAll(world));
  // Late enough that the service has forgotten everything, so that it reads all of it again.
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 60_000 });
  await fill({ from: few, to: many });
  await addHistory(world, { from: few, to: many });
  grown = growthOf(before, await rowsRead(() => doAll(world)));
  vi.useRealTimers();
}, 1_800_000);

/** The statements that read more than twice as many rows, although there are a hundred times as many. */
function growthOf(before: RowsRead, after: RowsRead): string[] {
  expect(after.size).toBeGreaterThan(150);
  return [...after].filter(([sql, rows]) => rows > 2 * (before.get(sql) ?? 0) + slack).map(([sql]) => sql);
}

const isKnown = (sql: string) => Object.keys(known).some((part) => sql.includes(part));

it("reads no more rows if there are a hundred times as many, with these exceptions", () => {
  expect(grown.filter((sql) => !isKnown(sql))).toEqual([]);
});

it("lists only exceptions that are needed", async () => {
  expect(Object.keys(known).filter((part) => !grown.some((sql) => sql.includes(part)))).toEqual([]);
  const tables = [...(await growingTables(env.DB)), ...(await growingTables(env.PACKAGES))];
  expect(Object.keys(bounded).filter((table) => tables.includes(table))).toEqual([]);
});
