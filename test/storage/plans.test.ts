import { env } from "cloudflare:workers";
import { beforeAll, describe, expect, it } from "vitest";
import { openDatabase, type Database } from "#storage/db";
import * as schema from "#storage/schema";
import { ofAccounts } from "./calls/accounts.ts";
import { ofAppliances } from "./calls/appliances.ts";
import { ofBuilds } from "./calls/builds.ts";
import { ofRepositories } from "./calls/repositories.ts";
import { ofUpdates } from "./calls/updates.ts";
import { account, appliance, build, overlayFile, publication, repository } from "./calls/rows.ts";

const calls: Readonly<Record<string, Readonly<Record<string, readonly (readonly unknown[])[]>>>> = {
  ...ofAccounts,
  ...ofAppliances,
  ...ofBuilds,
  ...ofRepositories,
  ...ofUpdates,
};

/** These functions build statements that other functions send. */
const composers = [
  "appliance-overview.overviewStatements",
  "appliance-software.softwareStatements",
  "audit-log.withAuditEntry",
  "audit-log.entryOfAct",
  "channels.movedTo",
  "counters.counted",
  "gallery-listings.relisted",
  "inserts.insertWhere",
  "inserts.insertFrom",
];

/** Tables that do not grow over time, or with the actions of users. */
const small: Readonly<Record<string, string>> = {
  base_systems: "rows of the operator's catalogues",
  template_sets: "rows of the operator's catalogues",
  templates: "rows of the operator's catalogues",
  frozen_blobs: "of builds that are not over, which have slots",
  prepared_roots: "of the last KEEP_PREPARED_HOURS",
  counters: "fixed words",
  advisory_feeds: "the formats that Kiln reads",
  exploited_advisories: "a catalogue of two thousand names, which is read once a day",
  chore_runs: "one row for each chore of the code",
};

const theAnswer = "the operator's list of all of them";
const someLive = "only what is not over, which has slots";
const listed = "a short row for each appliance in the gallery, if a filter or a search selects some of them";

/** Other statements that read a whole table, or all rows with one status, and the reasons. */
const known: Readonly<Record<string, string>> = {
  "account-removal.takeRemoved accounts": "removed ones by the order of their index, and ends at the limit",
  "accounts.listAccounts accounts": theAnswer,
  "agents.listAgents agents": theAnswer,
  "agreements.listAllAcceptances agreements": theAnswer,
  "audit-log.listAuditLog audit_log": "by the order of ids, and ends at the limit",
  "logged-images.listUnlogged publications": "by the order of an index of what is not logged, and ends at the limit",
  "events.listOutbox event_outbox": "by the order of an index, and ends at the limit",
  "gallery-list.listPublications gallery_listings": listed,
  "build-queue.countQueuedBefore builds": someLive,
  "build-queue.listQueued builds": someLive,
  "build-queue.listUnended builds": someLive,
  "build-queue.listEnded builds": "by the order of an index, and ends at the limit",
  "build-queue.countHeld builds": someLive,
  "build-queue.countHeld testdrives": someLive,
  "repositories.listFailing repositories": "by the order of an index of those with a problem, and ends at the limit",
  "builds.addBuild builds": someLive,
  "builds.hasFreeSlot builds": someLive,
  "rebuilds.addRebuild builds": someLive,
  "builds.listHeldBy builds": someLive,
  "metrics.listBusyAgents builds": someLive,
  "metrics.listBusyAgents testdrives": someLive,
  "metrics.readAmounts builds": someLive,
  "metrics.readAmounts testdrives": someLive,
  "check-runs.listWaitingRuns check_runs": "only what waits",
  "check-runs.listWaitingRuns testdrives": someLive,
  "testdrives.addTestdrive testdrives": someLive,
  "testdrives.deleteEndedTestdrives testdrives": "by the order of ids, and ends at the limit",
  "testdrives.listNewTestdrives testdrives": someLive,
};

const db = openDatabase(env);

beforeAll(async () => {
  await db.insert(schema.accounts).values(account);
  await db.insert(schema.appliances).values(appliance);
  await db.insert(schema.builds).values({ ...build, status: "queued" });
  await db.insert(schema.repositories).values(repository);
  await db.insert(schema.overlayFiles).values({ ...overlayFile, blobId: "another" });
  await db.insert(schema.publications).values({ ...publication, version: "0.0.0", uuid: "earlier", formats: [] });
});

type Ask = (db: Database, ...given: readonly unknown[]) => PromiseLike<unknown>;

/** A function whose first parameter is the database. */
const asksDatabase = (value: unknown): value is Ask =>
  typeof value === "function" && /^(async )?(function \w*)?\s*\(db\b/.test(String(value));

const asking = Object.entries(import.meta.glob("../../src/storage/*.ts", { eager: true }))
  .flatMap(([path, module]) => {
    const file = path.replace(/^.*\/(.*)\.ts$/, "$1");
    return Object.entries(module).map(([name, ask]) => ({ name: `${file}.${name}`, ask, given: calls[file]?.[name] }));
  })
  .flatMap(({ ask, ...one }) => (asksDatabase(ask) ? [{ ask, ...one }] : []));

it("knows with which arguments to call every function of the storage layer that asks the database", () => {
  expect(asking.length).toBeGreaterThan(200);
  expect(asking.filter(({ given }) => !given?.length).map(({ name }) => name)).toEqual(composers);
});

describe("the plans of all statements", () => {
  const found = new Set<string>();
  const silent: string[] = [];

  beforeAll(async () => {
    const { recording, statements } = recordingDatabase();
    const senders = new Map<string, Statement & { name: string }>();
    for (const { name, ask, given = [] } of asking) {
      for (const each of given) {
        await ask(recording, ...each);
        if (statements.length === 0) silent.push(name);
        for (const one of statements.splice(0)) senders.set(one.sql, senders.get(one.sql) ?? { ...one, name });
      }
    }
    for (const database of [env.DB, env.PACKAGES]) {
      const own = [...senders.values()].filter((one) => one.database === database);
      const read = await readWhole(
        database,
        own.map(({ sql }) => sql),
      );
      for (const { sql, table } of read) found.add(`${senders.get(sql)?.name} ${table}`);
    }
  });

  it("has a statement of every call", () => expect(silent).toEqual([]));

  it("reads no table as a whole that grows", () => {
    const unexpected = [...found].filter((one) => !(one in known) && !((one.split(" ")[1] ?? "") in small));
    expect(unexpected).toEqual([]);
  });

  it("lists only exceptions that are needed", () => {
    expect(Object.keys(known).filter((one) => !found.has(one))).toEqual([]);
    const read = new Set([...found].map((one) => one.split(" ")[1]));
    expect(Object.keys(small).filter((table) => !read.has(table))).toEqual([]);
  });
});

it.each([
  ["SELECT 1 FROM builds AS b WHERE b.message = ?", ["builds"]],
  ["SELECT count(*) FROM testdrives WHERE state <> 'ended'", ["testdrives"]],
  ["SELECT id FROM builds WHERE status = ?", ["builds"]],
  ["SELECT name FROM packages_fts", ["packages_fts"]],
  ["SELECT name FROM packages_fts WHERE name LIKE ?", []],
  ["SELECT one.value FROM json_each(?) AS one JOIN builds ON builds.id = one.value", []],
  ["WITH one AS MATERIALIZED (SELECT 1 FROM builds WHERE id = 1) SELECT * FROM one", []],
])("sees which tables a statement reads as a whole: %s", async (sql, expected) => {
  const database = sql.includes("packages_fts") ? env.PACKAGES : env.DB;
  expect((await readWhole(database, [sql])).map(({ table }) => table)).toEqual(expected);
});

/** Tables that statements may read as a whole, or all rows with one status: most rows are finished, or have ended. */
async function readWhole(
  database: D1Database,
  statements: readonly string[],
): Promise<{ sql: string; table: string }[]> {
  const named = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all<{ name: string }>();
  const tables = (await named).results.map(({ name }) => name);
  const plans = await database.batch<{ detail: string }>(statements.map((sql) => explanation(database, sql)));
  return statements.flatMap((sql, nth) => {
    const aliases = (plans[nth]?.results ?? []).flatMap(({ detail }) => readByStep(detail) ?? []);
    return tables
      .filter((table) => aliases.some((alias) => isAlias(alias, table, sql)))
      .map((table) => ({ sql, table }));
  });
}

function explanation(database: D1Database, sql: string): D1PreparedStatement {
  const unbound = Array.from(sql.matchAll(/\?/g), () => null);
  return database.prepare(`EXPLAIN QUERY PLAN ${sql}`).bind(...unbound);
}

function readByStep(step: string): string | undefined {
  // If a virtual table is read as a whole, its index is 0, with nothing after it.
  const [, scanned] = /^SCAN (\w+)(?!.* VIRTUAL TABLE INDEX (?:[1-9]|0:.))/.exec(step) ?? [];
  const [, searched] = /^SEARCH (\w+) .*\((?:status|state)=\?\)/.exec(step) ?? [];
  return scanned ?? searched;
}

const isAlias = (name: string, table: string, sql: string): boolean =>
  name === table || new RegExp(`\\b${table}"? (?:AS )?"?${name}\\b`, "i").test(sql);

/** A prepared statement, and the database that it was prepared for. */
interface Statement {
  database: D1Database;
  sql: string;
}

/** Databases that record every prepared statement. */
function recordingDatabase(): { recording: Database; statements: Statement[] } {
  const statements: Statement[] = [];
  const recorded = (database: D1Database) =>
    new Proxy(database, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== "function") return value;
        return (...given: unknown[]): unknown => {
          if (name === "prepare") statements.push({ database, sql: String(given[0]) });
          return value.apply(target, given);
        };
      },
    });
  return { recording: openDatabase({ DB: recorded(env.DB), PACKAGES: recorded(env.PACKAGES) }), statements };
}
