import { createExecutionContext, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { BuildClaimAnswer, TestdriveClaimAnswer } from "#lib/contract/index";
import { mailbox } from "#domain/jobs";
import { app } from "../../src/app.ts";
import { signedIn, visit, type Client } from "../support/client.ts";
import { createAppliance, createBuild } from "../support/factories.ts";
import { capabilities, fakeAgent } from "../support/fake-agent.ts";
import { readXml } from "../support/xml.ts";
import { patienceMs } from "../support/patience.ts";

const id = "client-4711";
let lines: string[];
beforeEach(() => {
  lines = [];
  for (const method of ["error", "log"] as const) {
    vi.spyOn(console, method).mockImplementation((line: string) => void lines.push(line));
  }
});
afterEach(() => void vi.restoreAllMocks());

const headersOf = ({ username, apiKey }: Client) => ({
  authorization: `Basic ${btoa(`${username}:${apiKey}`)}`,
  "x-request-id": id,
});

/** The jobs for agents in the queue. */
const jobs = () =>
  runInDurableObject(mailbox(env), (_, { storage }) =>
    storage.sql
      .exec<{ body: string }>("SELECT body FROM letters")
      .toArray()
      .map(({ body }): unknown => JSON.parse(body)),
  );

async function startedBuild(tux: Client): Promise<number> {
  const path = `/api/v2/user/running_builds?appliance_id=${await createAppliance(tux)}`;
  const { build } = await readXml(await visit(path, { method: "POST", headers: headersOf(tux) }));
  return Number(build.id);
}

it("is the client's own, or a new one, in every answer", async () => {
  const own = await visit("/api/v2/user/account", { headers: { "x-request-id": id } });
  const made = await visit("/api/v2/user/account", { headers: { "x-request-id": "two words" } });
  const page = await visit("/");

  expect(own.headers.get("x-request-id")).toBe(id);
  for (const answer of [made, page]) expect(answer.headers.get("x-request-id")).toMatch(/^[0-9a-f-]{36}$/);
  expect(made.headers.get("x-request-id")).not.toBe(page.headers.get("x-request-id"));
});

it("goes from the start of a build through its object and the queue to the agent", async () => {
  const buildId = await startedBuild(await signedIn());
  await vi.waitFor(
    async () => expect(await jobs()).toContainEqual({ kind: "build", buildId, requestId: id }),
    patienceMs,
  );
  const answer = await (await fakeAgent()).call("POST", "/builds/claim", { json: { capabilities } });
  expect(BuildClaimAnswer.parse(await answer.json()).build).toMatchObject({ buildId, requestId: id });
});

it("is in the lines of the build's object, long after the request", async () => {
  const buildId = await startedBuild(await signedIn());
  await env.DB.prepare("ALTER TABLE builds RENAME TO builds_away").run();
  await (await objectOfBuildAway(buildId)).cancel();
  await env.DB.prepare("ALTER TABLE builds_away RENAME TO builds").run();
  expect(lines.join("\n")).toContain(`could not do a build's chores requestId=${id} buildId=${buildId}`);
});

/** The object of a build whose row cannot be read. */
async function objectOfBuildAway(buildId: number) {
  const uid = await env.DB.prepare("SELECT uid FROM builds_away WHERE id = ?").bind(buildId).first<string>("uid");
  return env.BUILDS.getByName(uid ?? "");
}

it("goes from the start of a testdrive to the agent", async () => {
  const tux = await signedIn();
  const { buildId, agent } = await createBuild(tux);
  const path = `/api/v2/user/testdrives?build_id=${buildId}`;
  const starting = visit(path, { method: "POST", headers: headersOf(tux) });
  const claimed = await vi.waitFor(async () => {
    const answer = await agent.call("POST", "/testdrives/claim", { json: { vnc: null } });
    const { testdrive } = TestdriveClaimAnswer.parse(await answer.json());
    expect(testdrive).not.toBeNull();
    return testdrive;
  }, patienceMs);
  expect(claimed).toMatchObject({ buildId, requestId: id });
  expect((await starting).status).toBe(200);
});

it("is in the line of a failed request, which names no secret address", async () => {
  const broken: D1Database = Object.create(env.DB);
  broken.prepare = () => {
    throw new Error("D1 is overloaded");
  };
  const paths = ["/download/sesame/image.iso", "/api/v2/user/builds/12"];
  for (const path of paths) {
    const request = new Request(`https://kiln.test${path}`, {
      headers: { "x-request-id": id, authorization: "Basic eDp5" },
    });
    await app.fetch(request, { ...env, DB: broken }, createExecutionContext());
  }
  const requests = lines.filter((line) => /Z request /.test(line));
  expect(requests).toEqual([
    expect.stringMatching(
      / request requestId=client-4711 method=GET path=\/download\/:\w+\/\S* status=500 code=internal_error ms=\d+$/,
    ),
    expect.stringMatching(/ path=\/api\/v2\/user\/builds\/12 status=500 /),
  ]);
  expect(lines.join("\n")).toContain(`a request failed requestId=${id}: Error: D1 is overloaded`);
  expect(lines.join("\n")).not.toMatch(/sesame|eDp5/);
});

it.each([
  ["0", 0],
  ["1", 1],
])("of requests that do not fail, the share LOG_REQUESTS=%s is logged", async (share, count) => {
  await app.fetch(new Request("https://kiln.test/"), { ...env, LOG_REQUESTS: share }, createExecutionContext());
  expect(lines.filter((line) => /Z request .* status=200 /.test(line))).toHaveLength(count);
});
