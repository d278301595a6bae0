import { env } from "cloudflare:workers";
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { loadTemplates } from "../support/catalogue.ts";
import { operate, signedIn, visit, type Client } from "../support/client.ts";
import { createAppliance } from "../support/factories.ts";
import { galleryPath, sendText } from "../support/gallery.ts";
import { mirrorOf, rpmMd } from "../support/mirror.ts";
import { sweepIn } from "../support/sweep.ts";
import { tokenOf } from "../support/tokens.ts";
import { expectError, readXml } from "../support/xml.ts";
import { makeSample, mirrorUrl, type Sample } from "./every-call/sample.ts";

vi.setConfig({ hookTimeout: 60_000, testTimeout: 30_000 });

beforeAll(async () => {
  await loadTemplates();
  const mirror = mirrorOf({ [mirrorUrl]: rpmMd(["perl-DBI-1.6"]), [`${mirrorUrl}-too`]: rpmMd(["perl-DBI-1.6"]) });
  vi.spyOn(globalThis, "fetch").mockImplementation((to) => mirror.fetchOutside(String(to)));
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

/** Counts the files of the account's user repository, even after its row is deleted. */
async function userFilesOf({ accountId }: Client): Promise<() => Promise<number>> {
  const uids = "SELECT uid FROM repositories WHERE account_id = ? AND is_user_repository = 1";
  const uid = await env.DB.prepare(uids).bind(accountId).first<string>("uid");
  return async () => (await env.BLOBS.list({ prefix: `user-repositories/${uid}/` })).objects.length;
}

describe("the removal of an account", () => {
  let own: Sample;
  beforeEach(async () => {
    own = await makeSample();
  });

  it("deletes everything of the account, and nothing else", async () => {
    const { tux, ids } = own;
    const [theirs, gnu] = [await makeSample(), await signedIn()];
    const { published = 0, appliance = 0 } = ids;
    const clone = await createAppliance(gnu, { clone_from: published });
    await tux.post(`/appliances/${appliance}/sharing/${gnu.username}`);
    await tokenOf(tux);
    const rated = Number(theirs.ids["published"]);
    await tux.post(galleryPath(rated, "/rating"), { rating: 5 });
    await createAppliance(tux, { clone_from: rated });
    await sendText(tux, "POST", galleryPath(rated, "/comments"), { body: "Nice." });
    const parent = await env.DB.prepare("SELECT max(id) AS id FROM comments").first<number>("id");
    await sendText(gnu, "POST", galleryPath(rated, `/comments?parent=${parent}`), { body: "Yes." });
    const files = await userFilesOf(tux);
    const { shares: _, gallery_uses: __, ...ofGnu } = await rowsOf(gnu); // of the removed account's appliances
    const ofTheirs = await rowsOf(theirs.tux);
    expect(Object.keys(await rowsOf(tux)).length).toBeGreaterThan(10);
    expect(await files()).toBeGreaterThan(0);

    expect((await remove(tux)).status).toBe(200);
    await expectError(await tux.get("/account"), 401, "access_denied");
    await sweepNow();

    expect(await rowsOf(tux)).toEqual({});
    expect(await files()).toBe(0);
    expect([await rowsOf(gnu), await rowsOf(theirs.tux)]).toEqual([ofGnu, ofTheirs]);
    expect((await readXml(await gnu.get(`/appliances/${clone}`))).appliance.id).toBe(String(clone));
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
    expect(complaint.mock.calls.map(([what]) => String(what))).toContain(`removal of account ${tux.accountId}:`);
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
