/** Many wrong passwords and keys, from outside. */
import { env } from "cloudflare:workers";
import { expect, describe, it } from "vitest";
import { checkPasswordOrKey } from "#domain/accounts/account";
import { hashInTurn } from "#domain/accounts/hash-turns";
import { openDatabase } from "#storage/db";
import { signedIn, visit, type Client } from "../support/client.ts";
import { readXml } from "../support/xml.ts";

let addresses = 0;
/** One that no other test has. */
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

const page = "/user/show_api_key";
const inTurn = async (count: number, one: (n: number) => Promise<number>): Promise<number[]> => {
  const all: number[] = [];
  for (let n = 0; n < count; n += 1) all.push(await one(n));
  return all;
};
const countOf = (status: number, all: number[]) => all.filter((one) => one === status).length;

/** The limit counts by the minutes of the clock, so a run over the end of one may take twice as many. */
async function untilBraked(limit: number, one: (n: number) => Promise<number>): Promise<void> {
  for (let n = 0; n < 2 * limit + 2; n += 1) if ((await one(n)) === 429) return;
  throw new Error("everything was tried");
}

/** Wrong keys until the next one is refused untried. */
const brake = ({ username }: Pick<Client, "username">, from: string): Promise<void> =>
  untilBraked(10, (n) => statusOf(username, { secret: `wrong ${n}`, from }));

describe("wrong passwords and keys", () => {
  it.each([
    ["the page of the key", page, "one after the other"],
    ["the API", "/api/v2/user/account", "one after the other"],
    ["the API", "/api/v2/user/account", "all at once"],
    ["the list of appliances", "/api/v1/user/appliances", "all at once"],
  ])("are tried some ten times in a minute at %s (%s, %s)", async (_where, path, how) => {
    const { username } = await signedIn();
    const from = newAddress();
    const one = (n: number) => statusOf(username, { secret: `wrong ${n}`, from, path });

    const all = how === "all at once" ? await Promise.all([...Array(40).keys()].map(one)) : await inTurn(40, one);

    expect(countOf(401, all)).toBeGreaterThan(0);
    expect(countOf(401, all)).toBeLessThan(25); // ten, or twenty over the end of a minute, and those in progress
    expect(countOf(401, all) + countOf(429, all)).toBe(40);
  });

  it("are tried a hundred times for all accounts together", async () => {
    const from = newAddress();
    let tried = 0;
    await untilBraked(100, (n) => statusOf(`nobody-${(tried = n)}`, { secret: "wrong", from }));

    expect(tried).toBeGreaterThanOrEqual(100);
    expect(await statusOf("nobody", { secret: "wrong", from: newAddress() })).toBe(401);
  });

  it("count for the network of an IPv6 address", async () => {
    const tux = await signedIn();
    await untilBraked(10, (n) => statusOf(tux.username, { secret: "wrong", from: `[2001:db8:7:1::${n + 1}]` }));
    expect(await statusOf(tux.username, { secret: tux.apiKey, from: "[2001:db8:7:2::1]" })).toBe(200);
  });

  it("count for the address that connects, whatever the client says", async () => {
    const { username } = await signedIn();
    const from = newAddress();
    await untilBraked(10, (n) => {
      const claimed = `203.0.113.${n}`;
      const headers = { "x-forwarded-for": claimed, "cf-connecting-ip": claimed, "x-real-ip": claimed };
      return statusOf(username, { secret: `wrong ${n}`, from, headers });
    });
  });

  it("are refused with the time to wait: a document for programs, a page for people", async () => {
    const tux = await signedIn();
    const from = newAddress();
    await brake(tux, from);

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
  it("pass from every other address while somebody tries keys of the account", async () => {
    const tux = await signedIn();
    const from = newAddress();
    await brake(tux, from);

    expect(await statusOf(tux.username, { secret: tux.apiKey, from: newAddress() })).toBe(200);
    expect(await statusOf(tux.username, { secret: "correct horse", from: newAddress(), path: page })).toBe(200);
    expect(await statusOf(tux.username, { secret: tux.apiKey, from })).toBe(429);
  });

  it("that were used before pass from the very address, and another account's too", async () => {
    const [tux, rhea] = [await signedIn(), await signedIn()];
    const from = newAddress();
    expect(await statusOf(tux.username, { secret: tux.apiKey, from })).toBe(200);
    await brake(tux, from);

    expect(await statusOf(tux.username, { secret: tux.apiKey, from })).toBe(200);
    expect(await statusOf(rhea.username, { secret: rhea.apiKey, from })).toBe(200);
  });

  it("never count, however many come", async () => {
    const tux = await signedIn();
    const from = newAddress();
    const cold = await Promise.all(
      [...Array(50).keys()].map(() => statusOf(tux.username, { secret: tux.apiKey, from })),
    );
    const later = await inTurn(150, () => statusOf(tux.username, { secret: tux.apiKey, from }));
    expect(new Set([...cold, ...later])).toEqual(new Set([200]));
  });

  it("are refused once the key was renewed", async () => {
    const tux = await signedIn();
    const from = newAddress();
    expect(await statusOf(tux.username, { secret: tux.apiKey, from })).toBe(200);
    await env.DB.prepare("UPDATE accounts SET api_key_hmac = 'other' WHERE id = ?").bind(tux.accountId).run();
    expect(await statusOf(tux.username, { secret: tux.apiKey, from })).toBe(401);
    expect(await statusOf(tux.username, { secret: tux.apiKey, from })).toBe(401);
  });
});

describe("hashes", () => {
  it("are as many for a name that no account has as for one with a wrong password", async () => {
    const tux = await signedIn();
    const hashed: string[] = [];
    const check = (username: string) =>
      checkPasswordOrKey(
        openDatabase(env.DB),
        env,
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

  it("are not made for what is refused", async () => {
    const tux = await signedIn();
    const address = newAddress();
    await brake(tux, address);
    let hashes = 0;
    const given = { username: tux.username, key: "wrong", address };
    const checked = checkPasswordOrKey(openDatabase(env.DB), env, given, async () => {
      hashes += 1;
      return false;
    });
    await expect(checked).rejects.toMatchObject({ reason: "too_fast" });
    expect(hashes).toBe(0);
  });

  it("are made one at a time, and refused when many wait", async () => {
    let [atOnce, most, made] = [0, 0, 0];
    const hash = async () => {
      most = Math.max(most, ++atOnce);
      await scheduler.wait(1);
      atOnce -= 1;
      made += 1;
    };
    const all = await Promise.allSettled(Array.from({ length: 20 }, () => hashInTurn(hash)));

    expect(most).toBe(1);
    expect(made).toBe(8);
    for (const one of all.filter(({ status }) => status === "rejected")) {
      expect(one).toMatchObject({ reason: { reason: "too_fast", code: "unknown_error" } });
    }
  });
});
