import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";
import { openDatabase } from "#storage/db";
import { idempotentAnswers } from "#storage/schema";
import { loadTemplates } from "../support/catalogue.ts";
import { signedIn, visit, type Client } from "../support/client.ts";
import { sweepIn } from "../support/sweep.ts";
import { expectError, readXml } from "../support/xml.ts";

beforeAll(loadTemplates);

const db = openDatabase(env);
const clone = "/appliances?clone_from=1&arch=x86_64";

interface Sent {
  body?: BodyInit;
  headers?: Record<string, string>;
  method?: string;
  version?: "v1" | "v2";
}

/** A request with an Idempotency-Key. */
function send(tux: Client, key: string, path = clone, { headers, version = "v2", ...init }: Sent = {}) {
  const authorization = `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}`;
  const all = { authorization, "idempotency-key": key, ...headers };
  return visit(`/api/${version}/user${path}`, { method: "POST", ...init, headers: all });
}

const countAppliances = async (tux: Client): Promise<number> => {
  const { appliances } = await readXml(await tux.get("/appliances"));
  return [appliances.appliance ?? []].flat().length;
};

const rowOf = async (tux: Client) => {
  const rows = await db.select().from(idempotentAnswers).where(eq(idempotentAnswers.accountId, tux.accountId));
  expect(rows).toHaveLength(1);
  return rows[0];
};

/** A request that holds its key, and has not renewed it for this long. */
async function silentRequest(tux: Client, key: string, silentMs: number): Promise<void> {
  await send(tux, key);
  const heardAt = new Date(Date.now() - silentMs);
  await db
    .update(idempotentAnswers)
    .set({ status: null, contentType: null, body: null, leaseEndsAt: new Date(heardAt.getTime() + 9_000) })
    .where(eq(idempotentAnswers.accountId, tux.accountId));
}

const form = (boundary: string, name: string) => ({
  body: `--${boundary}\r\nContent-Disposition: form-data; name="name"\r\n\r\n${name}\r\n--${boundary}--\r\n`,
  headers: { "content-type": `multipart/form-data; boundary=${boundary}` },
});

/** Stores answers of this size for keys `old-1` …, as if they had been sent within the last day. */
const stored = (tux: Client, amount: number, bytes: number) =>
  env.DB.prepare(
    `WITH RECURSIVE one(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM one WHERE n < ?2)
     INSERT INTO idempotent_answers (account_id, key, request_sha256, request_id, status, body, created_at, lease_ends_at)
     SELECT ?1, 'old-' || n, '', hex(randomblob(16)), 200, hex(zeroblob(?3 / 2)), ?4, ?4 FROM one`,
  )
    .bind(tux.accountId, amount, bytes, Date.now())
    .run();

describe("a POST with an Idempotency-Key", () => {
  it("is executed once, and answered the same a second time", async () => {
    const tux = await signedIn();

    const first = await send(tux, "k1");
    const second = await send(tux, "k1");

    expect([first.status, first.headers.get("idempotency-replayed")]).toEqual([200, null]);
    expect([second.status, second.headers.get("idempotency-replayed")]).toEqual([200, "true"]);
    expect(second.headers.get("content-length")).toBe(first.headers.get("content-length"));
    expect(await readXml(second)).toEqual(await readXml(first));
    expect(await countAppliances(tux)).toBe(1);
  });

  it("is executed again under another key or by another account", async () => {
    const tux = await signedIn();
    const rhea = await signedIn();

    for (const answer of [await send(tux, "k1"), await send(tux, "k2"), await send(rhea, "k1")]) {
      expect([answer.status, answer.headers.get("idempotency-replayed")]).toEqual([200, null]);
      await answer.body?.cancel();
    }

    expect([await countAppliances(tux), await countAppliances(rhea)]).toEqual([2, 1]);
  });

  it("is executed by exactly one of many simultaneous requests", async () => {
    const tux = await signedIn();

    const answers = await Promise.all(Array.from({ length: 8 }, () => send(tux, "k1")));

    for (const answer of answers) {
      if (answer.status === 200) await readXml(answer);
      else expect(await expectError(answer, 409, "unknown_error")).toContain("still in progress");
    }
    expect(answers.some(({ status }) => status === 200)).toBe(true);
    expect(await countAppliances(tux)).toBe(1);
  });

  it.each<[string, string, Sent]>([
    ["another query", `${clone}&name=Other`, {}],
    ["another version of the API", clone, { version: "v1" }],
    ["another call", "/testdrives?build_id=1", {}],
    ["another body", clone, { body: new URLSearchParams({ name: "Other" }) }],
    ["another type of body", clone, { body: "name=Kiosk", headers: { "content-type": "text/plain" } }],
  ])("refuses its key for %s", async (_, path, sent) => {
    const tux = await signedIn();
    await (await send(tux, "k1", clone, { body: new URLSearchParams({ name: "Kiosk" }) })).body?.cancel();

    const message = await expectError(await send(tux, "k1", path, sent), 422, "unknown_error");

    expect(message).toContain("another request");
    expect(await countAppliances(tux)).toBe(1);
  });

  it("matches the same form with another boundary", async () => {
    const tux = await signedIn();
    const first = await readXml(await send(tux, "k1", clone, form("6b002ccc", "Kiosk")));
    const again = await send(tux, "k1", clone, form("7c113ddd", "Kiosk"));

    expect(again.headers.get("idempotency-replayed")).toBe("true");
    expect((await readXml(again)).appliance).toEqual(first.appliance);
    expect(first.appliance.name).toBe("Kiosk");
    await expectError(await send(tux, "k1", clone, form("8d224eee", "Other")), 422, "unknown_error");
  });

  it("can be retried after it was refused", async () => {
    const tux = await signedIn();
    const template = "/appliances?clone_from=999";

    await expectError(await send(tux, "k1", template), 400, "invalid_appliance_id");
    const second = await send(tux, "k1", template);

    expect(second.headers.get("idempotency-replayed")).toBeNull();
    await expectError(second, 400, "invalid_appliance_id");
    expect((await send(tux, "k1")).status).toBe(200);
  });

  it("can be retried after a wrong path or a wrong content type", async () => {
    const tux = await signedIn();
    const headers = { "content-type": "multipart/form-data" };

    await expectError(await send(tux, "k1", "/nothing"), 404, "unknown_error");
    await expectError(await send(tux, "k1", "/account"), 400, "wrong_http_method");
    await expectError(await send(tux, "k1", clone, { body: "x", headers }), 400, "invalid_value");
    expect((await send(tux, "k1")).status).toBe(200);
  });

  it("is refused while the first one is in progress", async () => {
    const tux = await signedIn();
    await silentRequest(tux, "k1", 5_000);

    expect(await expectError(await send(tux, "k1"), 409, "unknown_error")).toContain("still in progress");
    expect(await countAppliances(tux)).toBe(1);
  });

  it("returns the first one's result, if that went silent ten seconds ago", async () => {
    const tux = await signedIn();
    await silentRequest(tux, "k1", 10_000);

    expect((await send(tux, "k1")).headers.get("idempotency-replayed")).toBeNull();
    expect((await send(tux, "k1")).headers.get("idempotency-replayed")).toBe("true");
    expect(await countAppliances(tux)).toBe(1);
  });

  it("refuses another request under the key of a silent one", async () => {
    const tux = await signedIn();
    await silentRequest(tux, "k1", 10_000);

    await expectError(await send(tux, "k1", `${clone}&name=Other`), 422, "unknown_error");
    expect(await countAppliances(tux)).toBe(1);
  });

  it("is forgotten after a day", async () => {
    const tux = await signedIn();
    await send(tux, "k1");
    const yesterday = new Date(Date.now() - 24 * 3600_000 - 1000);
    await db
      .update(idempotentAnswers)
      .set({ createdAt: yesterday })
      .where(eq(idempotentAnswers.accountId, tux.accountId));

    expect((await send(tux, "k1", `${clone}&name=Tomorrow`)).status).toBe(200);

    await send(tux, "k2");
    await db.update(idempotentAnswers).set({ createdAt: yesterday }).where(eq(idempotentAnswers.key, "k1"));
    await sweepIn(0);
    expect(await rowOf(tux)).toMatchObject({ key: "k2", status: 200 });
  });

  it("is not executed again if its answer was too large to store", async () => {
    const tux = await signedIn();
    await send(tux, "k1");
    await db.update(idempotentAnswers).set({ body: null }).where(eq(idempotentAnswers.accountId, tux.accountId));

    expect(await expectError(await send(tux, "k1"), 409, "unknown_error")).toContain("too large");
    expect(await countAppliances(tux)).toBe(1);
  });

  it.each([
    ["too long", "k".repeat(256)],
    ["not printable", "a\tb"],
  ])("is refused with a key that is %s", async (_, key) => {
    const tux = await signedIn();

    await expectError(await send(tux, key), 400, "invalid_value");
    expect(await countAppliances(tux)).toBe(0);
  });

  it("repeats a JSON answer as JSON", async () => {
    const tux = await signedIn();
    const headers = { accept: "application/json" };

    const first = await (await send(tux, "k1", clone, { headers })).json();
    const second = await send(tux, "k1", clone, { headers });

    expect(second.headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(await second.json()).toEqual(first);
  });
});

describe("the stored keys of an account", () => {
  it("are at most 20,000 in a day; requests without a key still work", async () => {
    const tux = await signedIn();
    await (await send(tux, "k1")).body?.cancel();
    await stored(tux, 19_999, 0);

    const refused = await send(tux, "k2");
    const repeated = await send(tux, "k1");

    expect([refused.headers.get("retry-after"), repeated.headers.get("idempotency-replayed")]).toEqual([
      "3600",
      "true",
    ]);
    await expectError(refused, 429, "unknown_error");
    expect((await send(tux, "")).status).toBe(200);
    expect(await countAppliances(tux)).toBe(2);
  });

  it("have at most 16 MiB of answers; a request past that is still done once", async () => {
    const tux = await signedIn();
    await stored(tux, 16, 2 ** 20);

    expect((await send(tux, "k1")).status).toBe(200);

    expect(await expectError(await send(tux, "k1"), 409, "unknown_error")).toContain("too many answers");
    expect(await countAppliances(tux)).toBe(1);
  });

  it("have none of calls that only read", async () => {
    const tux = await signedIn();
    const { appliance } = await readXml(await send(tux, "k1"));
    const headers = { "content-type": "application/json", accept: "application/json" };
    const plan = () =>
      send(tux, "k2", `/appliances/${appliance.id}/definition/plan`, { headers, body: '{"definition": {}}' });

    const plans = [await plan(), await plan()];

    expect(plans.map(({ status, headers }) => [status, headers.get("idempotency-replayed")])).toEqual([
      [200, null],
      [200, null],
    ]);
    expect((await rowOf(tux))?.key).toBe("k1");
  });
});

describe("an Idempotency-Key", () => {
  it("is ignored for other methods, empty values and missing credentials", async () => {
    const tux = await signedIn();

    await (await send(tux, "k1", "/appliances", { method: "GET" })).body?.cancel();
    await (await send(tux, "", clone)).body?.cancel();
    await (await send({ ...tux, apiKey: "wrong" }, "k1")).body?.cancel();

    expect(await db.select().from(idempotentAnswers).where(eq(idempotentAnswers.accountId, tux.accountId))).toEqual([]);
    expect((await send(tux, "k1")).headers.get("idempotency-replayed")).toBeNull();
  });
});
