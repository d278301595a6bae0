import { env } from "cloudflare:workers";
import { eq, sql } from "drizzle-orm";
import { expect, it } from "vitest";
import { openDatabase } from "#storage/db";
import { insertFrom, insertWhere } from "#storage/inserts";
import { builds, webhooks } from "#storage/schema";

const db = openDatabase(env);

// In a different order than the table's columns.
const webhook = () => ({
  createdAt: new Date(1_700_000_000_000),
  secretCipher: "cipher",
  events: ["build.finished" as const],
  url: "http://example.org/",
  accountId: 7,
});

it("writes each value into the column with its name", async () => {
  const [added] = await insertWhere(db, webhooks, webhook(), sql`1 = 1`).returning();
  expect(added).toEqual({
    ...webhook(),
    id: expect.any(Number),
    uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
    failingSince: null,
    disabledReason: null,
  });
});

it("writes nothing if the condition does not hold", async () => {
  const none = sql`(SELECT count(*) FROM webhooks WHERE account_id = 8) > 0`;
  expect(await insertWhere(db, webhooks, { ...webhook(), accountId: 8 }, none).returning()).toEqual([]);
  expect(await db.query.webhooks.findMany({ where: eq(webhooks.accountId, 8) })).toEqual([]);
});

it("inserts expressions once per row of another statement", async () => {
  const from = sql`FROM json_each('["a", "b"]') ORDER BY key DESC`;
  const url = sql`'http://' || value || '.example.org/'`;
  const row = { ...webhook(), uid: sql`'uid ' || value`, accountId: 9, url };
  const added = await insertFrom(db, webhooks, row, from).returning();
  expect(added.map(({ url }) => url)).toEqual(["http://b.example.org/", "http://a.example.org/"]);
});

it("stores an explicit NULL, and defaults for missing values", async () => {
  const row = {
    accountId: 7,
    applianceId: 1000,
    version: "0.0.1",
    imageType: "oem" as const,
    status: "failed" as const,
    inputSha256: "0".repeat(64),
    downloadToken: crypto.randomUUID(),
    createdAt: new Date(0),
    needsLvm: true,
    startedAt: null,
  };
  const [added] = await insertWhere(db, builds, row, sql`1 = 1`).returning();
  expect(added).toMatchObject({ ...row, needsEfi: false, hasSecureBoot: false, percent: 0, message: "" });
});
