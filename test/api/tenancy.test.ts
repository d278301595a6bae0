/**
 * Every call of the API, made by an account that has no access to the named objects, and every entry point with the
 * keys of others.
 */
import { env } from "cloudflare:workers";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { groups } from "#api/groups";
import { web } from "#web/index";
import { app } from "../../src/app.ts";
import { sessionOf } from "../support/browser.ts";
import { signedIn, visit, type Client } from "../support/client.ts";
import { createAppliance, startBuild } from "../support/factories.ts";
import { fakeAgent } from "../support/fake-agent.ts";
import { tokenOf } from "../support/tokens.ts";
import { wholeDatabase } from "../support/whole-database.ts";
import type { Row } from "./every-call/row.ts";
import { rows } from "./every-call/rows.ts";
import { makeSample, type Sample, prepareSamples } from "./every-call/sample.ts";
import { filled, filledBody, sent } from "./every-call/send.ts";

const operations = new Map(
  groups.flatMap((group) => group.operations.map((each) => [`${each.method} ${each.path}`, each])),
);

/** The names in a row's path and document that do not belong to the account. */
const others = ["tinyMain", "friend", "stranger"];
const namedBy = ({ path, sent: body }: Row): string[] =>
  [...`${path} ${body && "xml" in body ? body.xml : ""}`.matchAll(/\{(\w+)\}/g)]
    .map(([, name = ""]) => name)
    .filter((name) => !others.includes(name));

const isPublic = ({ call }: Row) => operations.get(call)?.access === "public";
const naming = rows.filter((row) => !isPublic(row) && namedBy(row).length > 0);
const listing = rows.filter((row) => !isPublic(row) && namedBy(row).length === 0 && row.call.startsWith("GET "));

let own: Sample;
let stranger: Client;
/** The stranger's lists before the other account existed. */
const alone = new Map<string, string>();

beforeAll(async () => {
  await prepareSamples();
  // Adds the repositories that every account has.
  await makeSample();
  stranger = await signedIn();
  for (const row of listing) alone.set(row.call, await answerTo(row, stranger));
  own = await makeSample();
  own.ids = { ...own.ids, friend: stranger.username, stranger: "0" };
});
afterAll(() => void vi.restoreAllMocks());

const ask = ({ call, path, sent: body }: Row, ids: Sample["ids"], credentials: Client) => {
  const [method = ""] = call.split(" ");
  return sent({ method, path: filled(path, ids), body: filledBody(body, ids), credentials });
};

/** A stream of events has no end, and shows only new events. */
async function answerTo(row: Row, credentials: Client): Promise<string> {
  const answer = await ask(row, {}, credentials);
  if (row.call !== "GET /events") return `${answer.status} ${await answer.text()}`;
  await answer.body?.cancel();
  return String(answer.status);
}

describe("a stranger", () => {
  it("is refused by every call that names something, and changes nothing", async () => {
    // On a slow machine, the time at which agents were last seen would change.
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() });
    onTestFinished(() => void vi.useRealTimers());
    const before = await wholeDatabase(["audit_log", "account_rates"]);
    for (const row of naming) {
      const answer = await ask(row, own.ids, stranger);

      const text = await answer.text();
      const codes = ["access_denied", row.foreign, ...(operations.get(row.call)?.unknown ?? [])];
      expect(codes, `${row.call}: ${text}`).toContain(/<code>(\w+)</.exec(text)?.[1]);
      expect(await wholeDatabase(["audit_log", "account_rates"]), row.call).toEqual(before);
    }
  });

  it("finds nothing of another account in any list", async () => {
    for (const row of listing) expect(await answerTo(row, stranger), row.call).toBe(alone.get(row.call));
  });
});

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];
/** Every call below a path, with placeholders as parameters. */
const callsOf = (prefix: string) => [
  ...new Set(
    app.routes
      .filter(({ method, path }) => methods.includes(method) && path.startsWith(`${prefix}/`))
      .map(({ method, path }) => `${method} ${path.replaceAll(/:\w+(\{[^}]*\})?/g, "1")}`),
  ),
];

const bearer = (secret: string) => ({ authorization: `Bearer ${secret}` });
const basic = (name: string, secret: string) => ({ authorization: `Basic ${btoa(`${name}:${secret}`)}` });
/** A different name each time, because too many failures of one name are refused without a check. */
const asSomeone = (secret: string) => basic(crypto.randomUUID(), secret);

describe("an entry point", () => {
  let keys: Record<
    "none" | "session" | "key" | "keyAsBearer" | "token" | "agent" | "attempt" | "operator" | "gateway",
    () => object
  >;
  let agentAsAccount: () => object;

  beforeAll(async () => {
    const agent = await fakeAgent();
    const { claim } = await agent.claimsBuild(await startBuild(own.tux, await createAppliance(own.tux)));
    const { secret } = await tokenOf(own.tux, { scope: "publish" });
    const session = await sessionOf(own.tux);
    agentAsAccount = () => asSomeone(agent.token);
    keys = {
      none: () => ({}),
      session: () => ({ cookie: `__Host-kiln-session=${session.secret}` }),
      key: () => basic(own.tux.username, own.tux.apiKey),
      keyAsBearer: () => bearer(own.tux.apiKey),
      token: () => bearer(secret),
      agent: () => bearer(agent.token),
      attempt: () => bearer(claim.token),
      operator: () => bearer(env.ADMIN_SECRET),
      gateway: () => bearer(env.GATEWAY_TOKEN),
    };
  });

  it.each([
    ["/api/v1/user", ["key"], 401],
    ["/api/v2/user", ["key"], 401],
    ["/agent", ["agent"], 401],
    ["/admin", ["operator"], 401],
    ["/client/v4", ["agent", "gateway"], 403],
  ] as const)("%s opens to no other's key than %s", async (prefix, opens, status) => {
    const wrong = Object.entries(keys).filter(([name]) => !opens.some((one) => one === name));
    const calls = callsOf(prefix);
    expect(calls.length).toBeGreaterThan(1);

    for (const call of calls) {
      const [method = "", path = ""] = call.split(" ");
      const asked = [...wrong.map(([, key]) => key()), ...(prefix.startsWith("/api") ? [agentAsAccount()] : [])];
      const answers = await Promise.all(asked.map((key) => visit(path, { method, headers: { ...key } })));
      await Promise.all(answers.map((answer) => answer.body?.cancel()));
      expect([call, ...answers.map((answer) => answer.status)]).toEqual([call, ...asked.map(() => status)]);
    }
  });

  it("is one of these, is open to everyone, or is a page", () => {
    const pages = new Set(web.routes.map(({ path }) => path));
    const others = app.routes.filter(({ method, path }) => methods.includes(method) && !pages.has(path));
    const open = [".well-known", "download", "image", "log", "machines", "published", "repositories", "schema"];

    expect(new Set(others.map(({ path }) => path.split("/")[1]))).toEqual(
      new Set(["api", "agent", "admin", "client", ...open]),
    );
  });
});
