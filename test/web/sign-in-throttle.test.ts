/** Many wrong passwords and keys, sent to the whole service. */
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { checkPasswordOrKey } from "#domain/accounts/account";
import { hashOneAtATime } from "#domain/accounts/hash-queue";
import { networkOf } from "#domain/accounts/sign-in-throttle";
import { openDatabase } from "#storage/db";
import { signedIn, visit, type Client } from "../support/client.ts";
import { readXml } from "../support/xml.ts";

let addresses = 0;
/** An address that no other test uses. */
const newAddress = () => `198.51.100.${++addresses}`;

interface Asked {
  secret: string;
  from: string;
  path?: string;
  headers?: Record<string, string>;
}

const ask = (username: string, { secret, from, path = "/api/v2/user/account", headers = {} }: Asked) =>
  visit(path, {
    headers: { ...headers, authorization: `Basic ${btoa(`${username}:${secret}`)}` },
    cf: { clientIp: `${from}:40000` },
  });

async function statusOf(...asked: Parameters<typeof ask>): Promise<number> {
  const answer = await ask(...asked);
  await answer.arrayBuffer();
  return answer.status;
}

afterEach(() => vi.useRealTimers());

const page = "/user/show_api_key";
const inTurn = async (count: number, one: (n: number) => Promise<number>): Promise<number[]> => {
  const all: number[] = [];
  for (let n = 0; n < count; n += 1) all.push(await one(n));
  return all;
};
const countOf = (status: number, all: number[]) => all.filter((one) => one === status).length;

/** The limit counts per clock minute. So a run across the end of a minute may allow twice as many. */
async function untilLimited(limit: number, one: (n: number) => Promise<number>): Promise<void> {
  for (let n = 0; n < 2 * limit + 2; n += 1) if ((await one(n)) === 429) return;
  throw new Error("no attempt was refused");
}

/** Sends wrong keys until one is refused without a check. */
const reachLimit = ({ username }: Pick<Client, "username">, from: string): Promise<void> =>
  untilLimited(10, (n) => statusOf(username, { secret: `wrong ${n}`, from }));

describe("wrong passwords and keys", () => {
  it.each([
    ["the page of the key", page, "one after the other"],
    ["the API", "/api/v2/user/account", "one after the other"],
    ["the API", "/api/v2/user/account", "at the same time"],
    ["the list of appliances", "/api/v1/user/appliances", "at the same time"],
  ])("are checked about ten times a minute at %s (%s, %s)", async (_where, path, how) => {
    const { username } = await signedIn();
    const from = newAddress();
    const one = (n: number) => statusOf(username, { secret: `wrong ${n}`, from, path });

    const all = how === "at the same time" ? await Promise.all([...Array(40).keys()].map(one)) : await inTurn(40, one);

    expect(countOf(401, all)).toBeGreaterThan(0);
    expect(countOf(401, all)).toBeLessThan(25); // ten, or twenty across the end of a minute, plus those in progress
    expect(countOf(401, all) + countOf(429, all)).toBe(40);
  });

  it("are checked a hundred times for all accounts together", async () => {
    const from = newAddress();
    let tried = 0;
    await untilLimited(100, (n) => statusOf(`nobody-${(tried = n)}`, { secret: "wrong", from }));

    expect(tried).toBeGreaterThanOrEqual(100);
    expect(await statusOf("nobody", { secret: "wrong", from: newAddress() })).toBe(401);
  });

  it("count per network of an IPv6 address", async () => {
    const tux = await signedIn();
    await untilLimited(10, (n) => statusOf(tux.username, { secret: "wrong", from: `[2001:db8:7:1::${n + 1}]` }));
    expect(await statusOf(tux.username, { secret: tux.apiKey, from: "[2001:db8:7:2::1]" })).toBe(200);
  });

  it.each([
    ["192.0.2.1", "192.0.2.1"],
    ["1:2:3:4:5:6:7:8", "1:2:3:4"],
    ["2001:db8::1", "2001:db8:0:0"],
    ["2001::3:4:5:6:7:8", "2001:0:3:4"],
    ["::1", "0:0:0:0"],
  ])("count %s to the network %s", (address, network) => {
    expect(networkOf(address)).toBe(network);
  });

  it("count per connecting address, whatever the client claims", async () => {
    const { username } = await signedIn();
    const from = newAddress();
    await untilLimited(10, (n) => {
      const claimed = `203.0.113.${n}`;
      const headers = { "x-forwarded-for": claimed, "cf-connecting-ip": claimed, "x-real-ip": claimed };
      return statusOf(username, { secret: `wrong ${n}`, from, headers });
    });
  });

  it("are refused with a wait time, as XML or a page", async () => {
    const tux = await signedIn();
    const from = newAddress();
    await reachLimit(tux, from);

    for (const path of ["/api/v1/user/account", "/api/v2/user/account", page]) {
      const answer = await ask(tux.username, { secret: "wrong", from, path });
      expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "60"]);
      expect(answer.headers.get("www-authenticate")).toBeNull();
      const { error } = await readXml(answer);
      expect(error).toEqual({ code: "unknown_error", message: expect.stringContaining("Wait a minute") });
    }
    const html = await ask(tux.username, { secret: "wrong", from, path: page, headers: { accept: "text/html" } });
    expect([html.status, html.headers.get("retry-after")]).toEqual([429, "60"]);
    expect(html.headers.get("content-type")).toMatch(/^text\/html/);
    expect(await html.text()).toContain("Wait a minute");
  });
});

describe("valid credentials", () => {
  it("are accepted from other addresses while one guesses keys", async () => {
    const tux = await signedIn();
    const from = newAddress();
    await reachLimit(tux, from);

    expect(await statusOf(tux.username, { secret: tux.apiKey, from: newAddress() })).toBe(200);
    expect(await statusOf(tux.username, { secret: "correct horse", from: newAddress(), path: page })).toBe(200);
    expect(await statusOf(tux.username, { secret: tux.apiKey, from })).toBe(429);
  });

  it("that were used before are accepted from the guessing address", async () => {
    const [tux, rhea] = [await signedIn(), await signedIn()];
    const from = newAddress();
    expect(await statusOf(tux.username, { secret: tux.apiKey, from })).toBe(200);
    await reachLimit(tux, from);

    expect(await statusOf(tux.username, { secret: tux.apiKey, from })).toBe(200);
    expect(await statusOf(rhea.username, { secret: rhea.apiKey, from })).toBe(200);
  });

  it("never count towards the limit", async () => {
    const tux = await signedIn();
    const from = newAddress();
    vi.useFakeTimers({ toFake: ["performance"] }); // on a slow machine, some of so many would wait too long
    const cold = await Promise.all(
      [...Array(50).keys()].map(() => statusOf(tux.username, { secret: tux.apiKey, from })),
    );
    const later = await inTurn(150, () => statusOf(tux.username, { secret: tux.apiKey, from }));
    expect(new Set([...cold, ...later])).toEqual(new Set([200]));
  });

  it("are refused after the key was renewed", async () => {
    const tux = await signedIn();
    const from = newAddress();
    expect(await statusOf(tux.username, { secret: tux.apiKey, from })).toBe(200);
    await env.DB.prepare("UPDATE accounts SET api_key_hmac = 'other' WHERE id = ?").bind(tux.accountId).run();
    expect(await statusOf(tux.username, { secret: tux.apiKey, from })).toBe(401);
    expect(await statusOf(tux.username, { secret: tux.apiKey, from })).toBe(401);
    // The recorded success of the old key no longer exempts it from the throttle.
    await reachLimit(tux, from);
    expect(await statusOf(tux.username, { secret: tux.apiKey, from })).toBe(429);
  });
});

describe("hashes", () => {
  it("take as many computations for an unknown name as a known one", async () => {
    const tux = await signedIn();
    const hashed: string[] = [];
    const check = (username: string) =>
      checkPasswordOrKey(
        { env, db: openDatabase(env) },
        { username, key: "wrong", address: newAddress() },
        async (_, stored) => {
          hashed.push(stored);
          return false;
        },
      );

    expect(await check(tux.username)).toBeUndefined();
    expect(await check("no-account-has-this-name")).toBeUndefined();

    expect(hashed).toHaveLength(2);
    const [known, unknown] = hashed.map((stored) => stored.split("$")[0]?.length);
    expect(unknown).toBe(known);
  });

  it("are not computed for refused attempts", async () => {
    const tux = await signedIn();
    const address = newAddress();
    await reachLimit(tux, address);
    let hashes = 0;
    const given = { username: tux.username, key: "wrong", address };
    const checked = checkPasswordOrKey({ env, db: openDatabase(env) }, given, async () => {
      hashes += 1;
      return false;
    });
    await expect(checked).rejects.toMatchObject({ reason: "too_fast" });
    expect(hashes).toBe(0);
  });

  it("are computed one at a time, and refused if many wait", async () => {
    let [atOnce, most, made] = [0, 0, 0];
    const hash = async () => {
      most = Math.max(most, ++atOnce);
      await scheduler.wait(1);
      atOnce -= 1;
      made += 1;
    };
    const all = await Promise.allSettled(Array.from({ length: 20 }, () => hashOneAtATime(newAddress(), hash)));

    expect(most).toBe(1);
    // Eight wait. A ninth computes, if the last test's hash is long enough ago.
    expect([8, 9]).toContain(made);
    for (const one of all.filter(({ status }) => status === "rejected")) {
      expect(one).toMatchObject({ reason: { reason: "too_fast", code: "unknown_error" } });
    }
  });

  it("wait for at most two others of the same address", async () => {
    const stranger = newAddress();
    const made: string[] = [];
    const hash = (who: string) => async () => void made.push(who);
    const strangers = Array.from({ length: 20 }, () => hashOneAtATime(stranger, hash("stranger")));
    const own = hashOneAtATime(newAddress(), hash("own"));
    await Promise.allSettled([...strangers, own]);

    expect(made.slice(0, 2)).toEqual(["stranger", "own"]);
    expect(made.length).toBeLessThanOrEqual(4);
  });
});
