import { createExecutionContext, waitOnExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi, type MockInstance } from "vitest";
import { importRepository } from "#domain/repositories/import";
import { openDatabase } from "#storage/db";
import { app } from "../../src/app.ts";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance } from "../support/factories.ts";
import { fakeAgent } from "../support/fake-agent.ts";
import { mirrorOf, rpmMd } from "../support/mirror.ts";
import { newRepository } from "../support/test-repository.ts";
import { tokenOf } from "../support/tokens.ts";
import { expectError } from "../support/xml.ts";

const message = expect.stringMatching(/^The disk of the service is full\./);
const isWrite = (sql: string) => /^\s*(insert|update|delete|replace)\b/i.test(sql);

const fails = () => Promise.reject(new Error("D1_ERROR: database or disk is full: SQLITE_FULL"));

/** A database that can be read, but whose disk is full. */
function fullDatabase(): D1Database {
  const refused = { bind: () => refused, run: fails, all: fails, raw: fails, first: fails };
  const prepare = (sql: string) => (isWrite(sql) ? refused : env.DB.prepare(sql));
  const batch = (statements: unknown[]) =>
    statements.includes(refused) ? fails() : env.DB.batch(statements as D1PreparedStatement[]);
  return Object.assign(Object.create(env.DB), { prepare, batch });
}

async function send(bindings: Partial<Env>, path: string, init: RequestInit): Promise<Response> {
  const context = createExecutionContext();
  const answer = await app.fetch(new Request(`https://kiln.test${path}`, init), { ...env, ...bindings }, context);
  await waitOnExecutionContext(context);
  return answer;
}

const credentialsOf = ({ username, apiKey }: Client) => ({ authorization: `Basic ${btoa(`${username}:${apiKey}`)}` });

let failures: MockInstance<typeof console.error>;
beforeEach(() => {
  failures = vi.spyOn(console, "error").mockImplementation(() => {});
});
afterEach(() => {
  vi.useRealTimers();
  failures.mockRestore();
});

describe("a database without room", () => {
  it("answers reads, though nothing can be noted of them, and says so once", async () => {
    const tux = await signedIn();
    const applianceId = await createAppliance(tux);
    const { client } = await tokenOf(tux, {});
    const headers = credentialsOf(client);
    const DB = fullDatabase();

    const status = await send({ DB }, `/api/v2/user/appliances/${applianceId}/status`, { headers });
    const list = await send({ DB }, "/api/v2/user/appliances", { headers });

    expect([status.status, list.status]).toEqual([200, 200]);
    expect(await list.text()).toContain("Kiosk");
    expect(failures.mock.calls.filter(([line]) => /could not record/.test(String(line)))).toHaveLength(1);
  });

  it("answers a failed sign-in", async () => {
    const tux = await signedIn();
    const headers = credentialsOf({ ...tux, apiKey: "wrong" });

    expect((await send({ DB: fullDatabase() }, "/api/v2/user/appliances", { headers })).status).toBe(401);
  });

  it("refuses a change with the reason", async () => {
    const tux = await signedIn();
    const init = { method: "POST", headers: credentialsOf(tux) };

    const answer = await send({ DB: fullDatabase() }, "/api/v2/user/tokens?name=one&scope=read", init);

    expect(await expectError(answer, 400, "read_only_mode_active")).toEqual(message);
    expect(failures.mock.calls.filter(([line]) => /a request failed/.test(String(line)))).toEqual([]);
  });
});

describe("a disk that the launcher calls full", () => {
  const DISK = { fetch: async () => new Response(null, { status: 507 }) } as unknown as Fetcher;

  it("refuses changes before they are made, and answers reads", async () => {
    const tux = await signedIn();
    const headers = credentialsOf(tux);

    const refused = await send({ DISK }, "/api/v2/user/tokens?name=one&scope=read", { method: "POST", headers });

    expect(await expectError(refused, 400, "read_only_mode_active")).toEqual(message);
    expect((await send({ DISK }, "/api/v2/user/appliances", { headers })).status).toBe(200);
  });

  it("lets agents send their parts later", async () => {
    const agent = await fakeAgent();
    const headers = { authorization: `Bearer ${agent.token}`, "content-length": String(2 ** 24) };

    const answer = await send({ DISK }, "/agent/builds/1/artifacts/image/parts/1", {
      method: "PUT",
      headers,
      body: new Uint8Array(2 ** 24),
    });

    expect(answer.status).toBe(507);
    expect(await answer.json()).toMatchObject({ error: { code: "disk_full" } });
  });

  it("stops imports, and keeps what the last one brought until there is room", async () => {
    const repository = await newRepository();
    await repository.importFiles(rpmMd(["a-good-1"]));
    const newer = mirrorOf({ [repository.url]: rpmMd(["a-newer-1"]) });
    const db = openDatabase(env);

    await importRepository({ env: { ...env, DISK }, db }, repository.id, newer);
    expect(await repository.row()).toMatchObject({ problem: message });
    expect(await repository.names()).toEqual(["a-good"]);

    await importRepository({ env, db }, repository.id, newer);
    expect(await repository.row()).toMatchObject({ problem: null });
    expect(await repository.names()).toEqual(["a-newer"]);
  });

  it("is a reason for which health fails", async () => {
    const headers = { authorization: `Bearer ${env.ADMIN_SECRET}` };

    const health = await send({ DISK }, "/admin/health", { headers });

    expect(await health.json()).toMatchObject({
      reasons: expect.arrayContaining([expect.objectContaining({ code: "disk_full" })]),
    });
  });
});
