import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { beforeAll, describe, expect, it } from "vitest";
import { decrypted } from "#domain/configuration/secrets";
import { encrypt, keyedHash, encryptSecret, decryptSecret, decrypt } from "#domain/secrets";
import { rehashPage, reencryptPage } from "#domain/stored-keys";
import { configurationOf } from "#lib/configuration/stored";
import { openDatabase } from "#storage/db";
import { accounts, idempotentAnswers, testdrives, webhooks } from "#storage/schema";
import { operate, signedIn, type Client } from "../support/client.ts";
import { fullDocument, rowOf } from "../support/configurations.ts";
import { createAppliance } from "../support/factories.ts";

const db = openDatabase(env);
const old = env.API_KEY_ENCRYPTION_KEY;
const next = btoa("fedcba9876543210fedcba9876543210");
const both = { API_KEY_ENCRYPTION_KEY: `${next} ${old}`, API_KEY_PEPPER: "another pepper" };
const onlyNext = { API_KEY_ENCRYPTION_KEY: next };

type WalkedPage = Awaited<ReturnType<typeof reencryptPage>>;

let tux: Client;
let appliance: number;

/** One of each kind, encrypted with the old key. */
beforeAll(async () => {
  tux = await signedIn();
  appliance = await createAppliance(tux);
  await tux.put(`/appliances/${appliance}/configuration`, fullDocument(appliance));
  const at = new Date();
  const own = { accountId: tux.accountId, createdAt: at };
  const secretCipher = await encrypt(old, "hook");
  await db.insert(webhooks).values({ uid: "hook", url: "https://example.org/", events: [], secretCipher, ...own });
  const encrypted = { pageToken: await encryptSecret(env, "page"), webToken: await encryptSecret(env, "web") };
  await db.insert(testdrives).values({ uid: "one", buildId: 1, state: "ended", ...own, ...encrypted });
  await db.insert(testdrives).values({ uid: "two", buildId: 1, state: "ended", ...own, pageToken: "of an older row" });
  const body = await encryptSecret(env, "answer");
  await db
    .insert(idempotentAnswers)
    .values({ ...own, key: "key", requestSha256: "", status: 200, body, leaseEndsAt: at });
});

/** Walks through all of them. */
async function all(page: (from?: WalkedPage["next"]) => Promise<WalkedPage>): Promise<WalkedPage[]> {
  const pages = [await page()];
  for (let at = pages[0]?.next; at; at = pages.at(-1)?.next) pages.push(await page(at));
  return pages;
}
const changedIn = (pages: readonly WalkedPage[]) => pages.reduce((sum, { changed }) => sum + changed, 0);
const unreadableIn = (pages: readonly WalkedPage[]) => pages.flatMap(({ unreadable }) => unreadable);
const walk = (keys: { API_KEY_ENCRYPTION_KEY: string }) =>
  all((from) => reencryptPage({ env: keys, db }, from ?? undefined));

const rows = async () => ({
  account: await db.query.accounts.findFirst({ where: eq(accounts.id, tux.accountId) }),
  webhook: await db.query.webhooks.findFirst({ where: eq(webhooks.uid, "hook") }),
  testdrive: await db.query.testdrives.findFirst({ where: eq(testdrives.uid, "one") }),
  answer: await db.query.idempotentAnswers.findFirst({ where: eq(idempotentAnswers.accountId, tux.accountId) }),
  appliance: await rowOf(appliance),
});

describe("keys reencrypt", () => {
  it("encrypts everything with the first key, once, so that the old one can be removed", async () => {
    const before = await rows();
    const first = await walk(both);
    const after = await rows();
    const again = await walk(both);

    expect(unreadableIn(first)).toEqual([]);
    expect(first.at(-1)).toMatchObject({ left: 0, next: null });
    expect(changedIn(first)).toBeGreaterThanOrEqual(6);
    expect(changedIn(again)).toBe(0);
    expect(await decrypt(next, after.account?.apiKeyCipher ?? "")).toBe(tux.apiKey);
    expect(await decrypt(next, after.webhook?.secretCipher ?? "")).toBe("hook");
    expect(await decryptSecret(onlyNext, after.testdrive?.pageToken ?? "")).toBe("page");
    expect(await decryptSecret(onlyNext, after.testdrive?.webToken ?? "")).toBe("web");
    expect(await decryptSecret(onlyNext, after.answer?.body ?? "")).toBe("answer");
    expect(await decrypted(onlyNext, configurationOf(after.appliance))).toEqual(
      await decrypted(env, configurationOf(before.appliance)),
    );
    expect(after.appliance.lastEditedAt).toEqual(before.appliance.lastEditedAt);
    expect(unreadableIn(await walk(onlyNext))).toEqual([]);
  });

  it("names what no key decrypts, and goes on", async () => {
    const stranger = { API_KEY_ENCRYPTION_KEY: btoa("a key that has encrypted nothing") };
    const before = await rows();
    const unreadable = unreadableIn(await walk(stranger));

    expect(unreadable).toContainEqual({ column: "API keys", row: tux.accountId });
    expect(unreadable).toContainEqual({ column: "configurations", row: appliance });
    expect(await rows()).toEqual(before);
  });

  it("takes a page per call, and says how many are left", async () => {
    const many = Array.from({ length: 250 }, (_, nth) => ({
      uid: `many ${nth}`,
      accountId: tux.accountId,
      buildId: 1,
      state: "ended" as const,
      pageToken: `many ${nth}`,
      createdAt: new Date(),
    }));
    for (let at = 0; at < many.length; at += 10) await db.insert(testdrives).values(many.slice(at, at + 10));
    const pages = await walk(both);
    const lefts = pages.map(({ left }) => left);

    expect(lefts.filter((left) => left > 250)).not.toEqual([]);
    expect(lefts).toEqual(lefts.toSorted((one, other) => other - one));
    await db.delete(testdrives).where(eq(testdrives.accountId, tux.accountId));
  });
});

describe("keys rehash", () => {
  it("lets API keys work with the present pepper, once", async () => {
    const place = { env: both, db };
    const first = await all((from) => rehashPage(place, from ?? undefined));
    const { account } = await rows();
    const again = await all((from) => rehashPage(place, from ?? undefined));

    expect(account?.apiKeyHmac).toBe(keyedHash(both.API_KEY_PEPPER, tux.apiKey));
    expect(changedIn(first)).toBe(1);
    expect(changedIn(again)).toBe(0);
  });
});

it("the operator calls both, and a wrong place is refused", async () => {
  // The service has only the old key.
  await all((from) => reencryptPage({ env: { API_KEY_ENCRYPTION_KEY: `${old} ${next}` }, db }, from ?? undefined));
  expect((await tux.get("/account")).status).toBe(401);
  const rehashed = await operate("POST", "/keys/rehash", {});
  expect(await rehashed.json()).toMatchObject({ unreadable: [], left: 0, next: null });
  expect((await tux.get("/account")).status).toBe(200);

  const before = await rows();
  const page = await operate("POST", "/keys/reencrypt", { from: { column: "configurations", after: 0 } });
  expect(await page.json()).toMatchObject({ changed: 0, unreadable: [] });
  expect((await operate("POST", "/keys/reencrypt", { from: { column: "agents", after: 0 } })).status).toBe(400);
  expect(await rows()).toEqual(before);
});
