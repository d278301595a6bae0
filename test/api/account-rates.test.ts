/** How often an account may make expensive calls. */
import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { app } from "../../src/app.ts";
import { rates } from "#domain/accounts/default-rates";
import { ratesOf } from "#domain/accounts/rates";
import { groups } from "#api/groups";
import limits from "../../docs/operations/limits.md?raw";
import { loadTemplates } from "../support/catalogue.ts";
import { browser } from "../support/browser.ts";
import { signedIn, type Client } from "../support/client.ts";
import { stopClock } from "../support/clock.ts";
import { createBuild } from "../support/factories.ts";
import { readXml } from "../support/xml.ts";

beforeAll(loadTemplates);
beforeEach(stopClock);
afterEach(() => void vi.useRealTimers());

async function ask(who: Client, call: string, changed: string, headers: Record<string, string> = {}) {
  const [method = "", path = ""] = call.split(" ");
  const authorization = `Basic ${btoa(`${who.username}:${who.apiKey}`)}`;
  const url = `https://kiln.test/api/v2/user${path}`;
  const request = new Request(url, { method, headers: { authorization, ...headers } });
  return await app.fetch(request, { ...env, ACCOUNT_RATES: changed }, createExecutionContext());
}

const status = async (...asked: Parameters<typeof ask>) => {
  const answer = await ask(...asked);
  await answer.arrayBuffer();
  return answer.status;
};

const rated = groups.flatMap(({ operations }) =>
  operations.flatMap(({ method, path, rate }) => (rate ? [[`${method} ${path}`, rate] as const] : [])),
);
const clone = "POST /appliances?clone_from=999999";

describe("an account", () => {
  it.each(rated)("can send %s a limited number of times in ten minutes (%s)", async (call, what) => {
    const tux = await signedIn();
    const path = call.replaceAll(/\{\w+\}/g, "1");
    const changed = `${what}=2`;

    expect(await status(tux, path, changed)).not.toBe(429);
    expect(await status(tux, path, changed)).not.toBe(429);
    expect(await status(tux, path, changed)).toBe(429);
    expect(await status(await signedIn(), path, changed)).not.toBe(429);
    expect(await status(tux, path, `${what}=0`)).not.toBe(429);
  });

  it("is told how long to wait, and can continue after that", async () => {
    vi.setSystemTime(new Date("2030-01-01T00:07:30Z"));
    const tux = await signedIn();
    await status(tux, clone, "clones=1");
    for (const version of ["v1", "v2"]) {
      const answer = await ask(tux, `POST /../../${version}/user/appliances?clone_from=999999`, "clones=1");
      expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "150"]);
      const { error } = await readXml(answer);
      expect(error).toEqual({ code: "unknown_error", message: expect.stringContaining("1 in ten minutes") });
    }

    vi.setSystemTime(new Date("2030-01-01T00:10:00Z"));
    expect(await status(tux, clone, "clones=1")).toBe(400);
    expect(await status(tux, clone, "clones=1")).toBe(429);
  });

  it("has a separate limit for each kind of call", async () => {
    const tux = await signedIn();
    await status(tux, clone, "clones=1");
    expect(await status(tux, clone, "clones=1")).toBe(429);
    expect(await status(tux, "POST /testdrives", "clones=1")).toBe(400);
    expect(await status(tux, "GET /appliances/1", "clones=1")).toBe(200);
  });

  it("gets exactly its limit from simultaneous requests", async () => {
    const tux = await signedIn();
    const all = await Promise.all(Array.from({ length: 20 }, () => status(tux, clone, "clones=5")));
    expect(all.filter((one) => one === 429)).toHaveLength(15);
  });

  it("is not charged for a repeat with the same Idempotency-Key", async () => {
    const tux = await signedIn();
    const again = () => status(tux, "POST /appliances?clone_from=1", "clones=1", { "idempotency-key": "a" });
    expect([await again(), await again(), await again()]).toEqual([200, 200, 200]);
  });

  it("is charged for a download, not only for the call", async () => {
    const tux = await signedIn();
    const { appliance } = await readXml(await tux.post("/appliances", { clone_from: 1 }));
    const call = `POST /files?appliance_id=${appliance.id}&filename=a&url=ftp://192.0.2.1/a`;
    expect(await status(tux, call, "web_files=1")).toBe(400);
    expect(await status(tux, call, "web_files=1")).toBe(429);
  });
});

it.each([
  ["/appliance/ID/share", "differences"],
  ["/appliances/images?with=bash", "reads"],
])("counts the page %s like the calls that say the same", async (path, what) => {
  const tux = await signedIn();
  const firefox = browser();
  await firefox.beginSession(tux);
  const { applianceId } = await createBuild(tux);
  const url = `https://kiln.test${path.replace("ID", String(applianceId))}`;
  const once = async () => {
    const request = new Request(url, { headers: { cookie: firefox.jar.cookie } });
    const answer = await app.fetch(request, { ...env, ACCOUNT_RATES: `${what}=1` }, createExecutionContext());
    await answer.arrayBuffer();
    return answer.status;
  };
  expect([await once(), await once()]).toEqual([200, 429]);
});

describe("ACCOUNT_RATES", () => {
  it("replaces some rates and keeps the others", () => {
    expect(ratesOf({ ACCOUNT_RATES: "" })).toEqual(rates);
    expect(ratesOf({ ACCOUNT_RATES: "builds=20, clones=0" })).toEqual({ ...rates, builds: 20, clones: 0 });
  });
});

it("has defaults that match docs/operations/limits.md", () => {
  const rows = [...limits.matchAll(/^\| `(\w+)` \| (\d+) \|/gm)].map(([, name, most]) => [name, Number(most)]);
  expect(Object.fromEntries(rows)).toEqual(rates);
});

it("has a call for each rate, beside the downloads that calls begin", () => {
  expect(new Set([...rated.map(([, rate]) => rate), "web_files"])).toEqual(new Set(Object.keys(rates)));
});
