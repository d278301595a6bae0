import { env } from "cloudflare:workers";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { partBytes } from "#lib/contract/index";
import { contentKey } from "#storage/blobs";
import { operate, signedIn, visit, type Client } from "../support/client.ts";
import { createAppliance } from "../support/factories.ts";
import { galleryPath, sendText } from "../support/gallery.ts";
import { patienceMs } from "../support/patience.ts";
import { runningBuild } from "../support/running-build.ts";
import { sweepIn } from "../support/sweep.ts";
import { tokenOf } from "../support/tokens.ts";
import { wholeDatabase } from "../support/whole-database.ts";
import { expectError, readXml } from "../support/xml.ts";
import { makeSample, type Sample, prepareSamples } from "./every-call/sample.ts";

beforeAll(async () => {
  await prepareSamples();
});
afterAll(() => void vi.restoreAllMocks());

const sweepNow = () => sweepIn(0);

const remove = ({ username, apiKey }: Client, password = "correct horse") =>
  visit("/api/v2/user/account", {
    method: "DELETE",
    headers: { authorization: `Basic ${btoa(`${username}:${apiKey}`)}` },
    body: new URLSearchParams({ password }),
  });

/** Number of rows in each table that belong to the account. */
async function rowsOf({ accountId }: Client): Promise<Record<string, number>> {
  // The audit log stays for its 90 days.
  const named =
    "SELECT name FROM sqlite_master WHERE type = 'table' AND sql LIKE '%account_id%' AND name <> 'audit_log'";
  const { results } = await env.DB.prepare(named).all<{ name: string }>();
  const found: Record<string, number> = {};
  const columns = [["accounts", "id"], ...results.map(({ name }) => [name, "account_id"])] as const;
  for (const [table, column] of columns) {
    const asked = env.DB.prepare(`SELECT count(*) AS count FROM ${table} WHERE ${column} = ?`).bind(accountId);
    const count = (await asked.first<number>("count")) ?? 0;
    if (count > 0) found[table ?? ""] = count;
  }
  return found;
}

const dayMs = 24 * 60 * 60_000;

const importsInProgress = () =>
  env.DB.prepare(
    "SELECT (SELECT count(*) FROM import_turns) + (SELECT count(*) FROM repositories WHERE import_state = 'importing') AS count",
  ).first<number>("count");

/** Runs the sweep until it has removed everything that it removes with a delay. */
async function settle(): Promise<void> {
  for (const day of [0, 1, 2, 3]) await sweepIn(day * dayMs);
  // The sweep has requested imports, which continue after it.
  await vi.waitUntil(async () => (await importsInProgress()) === 0, { timeout: patienceMs });
}

type Everything = Record<string, string[]>;

/**
 * Tables that reveal nothing about an account: assigned ids, the full-text indexes' own pages, and counts of costly
 * requests.
 */
const uncompared = ["sqlite_sequence", "account_rates", "audit_log"];
const ofIndexes = /_fts_(data|idx)$/;
/**
 * Columns that change over time: when repositories were checked and images compared, whether a repository is being
 * checked, and webhooks without a receiver.
 */
const changing = [
  "checked_at",
  "check_id",
  "failing_since",
  "asked_at",
  "sent_at",
  "look_at",
  "looked_at",
  "import_state",
];

/** Every row by its table, and every key in R2. */
async function everything(): Promise<Everything> {
  const { objects, truncated } = await env.BLOBS.list();
  expect(truncated).toBe(false);
  const tables = Object.entries(await wholeDatabase(uncompared)).filter(([table]) => !ofIndexes.test(table));
  const rows = tables.map(([table, all]) => [table, all.map(withoutChanging)] as const);
  return { ...Object.fromEntries(rows), blobs: objects.map(({ key }) => key) };
}

const parsed = (row: string): Record<string, unknown> => JSON.parse(row);

const withoutChanging = (row: string): string =>
  JSON.stringify(Object.fromEntries(Object.entries(parsed(row)).filter(([column]) => !changing.includes(column))));

/** Rows that only one of the two has, by table. */
function missingIn(one: Everything, other: Everything): Everything {
  const missing = Object.entries(other).map(([table, rows]) => {
    const known = new Set(one[table]);
    return [table, rows.filter((row) => !known.has(row))] as const;
  });
  return Object.fromEntries(missing.filter(([, rows]) => rows.length > 0));
}

/**
 * Adds objects that the sample does not have: bytes of an upload, a token, a statement, and a build that uploads its
 * image.
 */
async function fill({ tux, ids }: Sample): Promise<void> {
  const authorization = `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}`;
  const sending = { "content-type": "application/offset+octet-stream", "upload-offset": "0" };
  const upload = `/api/v2/user/uploads/${ids["upload"]}`;
  expect((await visit(upload, { method: "PATCH", headers: { authorization, ...sending }, body: "he" })).status).toBe(
    204,
  );
  const { attempt } = await runningBuild(tux);
  await attempt.opensUpload(2 * partBytes);
  await attempt.writesLog(0, "a line\n");
  await tokenOf(tux);
  const about = `/appliances/${ids["appliance"]}/vex/CVE-2026-1?status=under_investigation&text=Soon`;
  expect((await tux.put(about, "")).status).toBe(200);
}

describe("the removal of an account", () => {
  let own: Sample;
  beforeEach(async () => {
    own = await makeSample();
  });

  it("leaves the service as if the account had never been, but for what others made of its things", async () => {
    const { tux: gnu, ids: theirs } = own;
    await settle();
    const before = await everything();
    const sample = await makeSample();
    const { tux, ids } = sample;
    const { published = 0, appliance = 0 } = ids;
    await fill(sample);
    await tux.post(`/appliances/${appliance}/sharing/${gnu.username}`);
    const cloned = [published, appliance];
    const clones = await Promise.all(cloned.map((from) => createAppliance(gnu, { clone_from: from })));
    const rated = Number(theirs["published"]);
    await tux.post(galleryPath(rated, "/rating"), { rating: 5 });
    await createAppliance(tux, { clone_from: rated });
    await sendText(tux, "POST", galleryPath(rated, "/comments"), { body: "Nice." });
    const parent = await env.DB.prepare("SELECT max(id) AS id FROM comments").first<number>("id");
    await sendText(gnu, "POST", galleryPath(rated, `/comments?parent=${parent}`), { body: "Yes." });
    expect(Object.keys(await rowsOf(tux)).length).toBeGreaterThan(10);
    expect(Object.keys(missingIn(before, await everything())).length).toBeGreaterThan(20);

    expect((await remove(tux)).status).toBe(200);
    await expectError(await tux.get("/account"), 401, "access_denied");
    await settle();

    const after = await everything();
    // The test's agents do not belong to the account, and the time at which they were last seen changes.
    const { agents: _seen, ...lost } = missingIn(after, before);
    expect(lost).toEqual({});
    const { agents: _, blobs, comments: replies = [], ...ofClones } = missingIn(before, after);
    const files = (ofClones["overlay_files"] ?? []).map(parsed);
    expect(files.length).toBe(1);
    // The public log keeps the entries of images that were published.
    const ofOthers = blobs?.filter((key) => !String(key).startsWith("log/"));
    expect(ofOthers).toEqual(files.map(({ blob_id: blobId }) => contentKey(String(blobId))));
    expect(replies.map(parsed)).toMatchObject([{ account_id: gnu.accountId, parent_id: null, text: "Yes." }]);
    for (const [table, rows] of Object.entries(ofClones)) {
      const owners = rows.map(parsed).map((row) => row[table === "appliances" ? "id" : "appliance_id"]);
      expect(clones, table).toEqual(expect.arrayContaining(owners));
    }
    expect(await rowsOf(tux)).toEqual({});
    for (const clone of clones) expect((await gnu.get(`/appliances/${clone}`)).status).toBe(200);
    await expectError(await gnu.get(galleryPath(Number(published))), 404, "invalid_appliance_id");
    const { comments } = (await readXml(await gnu.get(galleryPath(rated, "/comments")))).gallery.appliance;
    expect(comments.comment).toMatchObject({ text: "Yes." });
    expect(comments.comment.parent_id).toBeUndefined();
  });

  it("continues after an interruption, even twice at the same time", async () => {
    const { tux } = own;
    await remove(tux);
    const complaint = vi.spyOn(console, "error").mockImplementation(() => {});
    await env.DB.prepare(
      "CREATE TRIGGER interrupted BEFORE DELETE ON repositories BEGIN SELECT RAISE(ABORT, 'the isolate is gone'); END",
    ).run();
    await sweepNow();
    await env.DB.prepare("DROP TRIGGER interrupted").run();
    expect(String(complaint.mock.calls)).toMatch(
      new RegExp(`could not remove an account requestId=sweep-\\d+ account=${tux.accountId}:`),
    );
    const left = await rowsOf(tux);
    expect(left).toMatchObject({ accounts: 1, repositories: 2 });
    expect(left["appliances"]).toBeUndefined();

    await Promise.all([sweepNow(), sweepNow()]);
    await sweepNow();

    complaint.mockRestore();
    expect(await rowsOf(tux)).toEqual({});
  });

  it("waits while deletions are paused", async () => {
    await operate("PUT", "/deletions", { paused: true });
    await remove(own.tux);
    await sweepNow();
    expect(await rowsOf(own.tux)).toHaveProperty("appliances");
    await operate("PUT", "/deletions", { paused: false });

    await sweepNow();

    expect(await rowsOf(own.tux)).toEqual({});
  });
});

describe("an account", () => {
  it("can be removed only with its password, or by the operator", async () => {
    const [tux, gnu] = [await signedIn(), await signedIn()];
    await expectError(await remove(tux, "wrong"), 403, "access_denied");
    await expectError(await remove(tux, tux.apiKey), 403, "access_denied");
    expect((await tux.get("/account")).status).toBe(200);

    expect((await operate("DELETE", `/accounts/${gnu.username}`)).status).toBe(200);

    await expectError(await gnu.get("/appliances"), 401, "access_denied");
    expect((await operate("DELETE", `/accounts/${gnu.username}`)).status).toBe(400);
    const id = await createAppliance(tux);
    await expectError(await tux.post(`/appliances/${id}/sharing/${gnu.username}`), 400, "invalid_username");
  });
});
