/** Mails about advisories: the account's setting, and the mails that its Events object sends. */
import { createExecutionContext, runDurableObjectAlarm, runInDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { app } from "../../src/app.ts";
import { browserWith, sessionOf } from "../support/browser.ts";
import { signedIn, type Client } from "../support/client.ts";
import { announceOne, objectOf } from "../support/events.ts";
import { pageOf, textOf } from "../support/html.ts";
import { alarmOf, moveClock, receiver } from "../support/webhooks.ts";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const MAIL_URL = "https://mail.test/emails";
const { BASE_URL: usual } = env;
const sender = { MAIL_URL, MAIL_FROM: "kiln@example.org", MAIL_TOKEN: "secret", BASE_URL: "https://kiln.test" };

let tux: Client;
beforeEach(async () => {
  moveClock();
  tux = await signedIn();
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** The answer of a service that sends mail. */
async function ask(method: string, path: string): Promise<Response> {
  const headers = { authorization: `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}`, accept: "application/json" };
  const request = new Request(`https://kiln.test/api/v2/user${path}`, { method, headers });
  return await app.fetch(request, { ...env, ...sender }, createExecutionContext());
}

const wants = async () => {
  const { account } = await (await ask("GET", "/account")).json<{ account: { mails_advisories: boolean } }>();
  return account.mails_advisories;
};

/** Sets variables of the object, whose service otherwise sends no mail. All test files share its `env`. */
const give = (variables: object) =>
  runInDurableObject(objectOf(tux), (events) => void Object.assign(Reflect.get(events, "env"), variables));

const imageOf = (buildId: number, exploited = 0) => ({
  build_id: buildId,
  appliance_id: 5,
  name: `Kiosk ${buildId}`,
  version: "0.0.1",
  image_type: "oem",
  fixed: 2,
  exploited,
  advisories: ["CVE-2026-1001", "CVE-2026-1002"],
});

const affected = (buildId: number, isUrgent = false) =>
  announceOne(tux, "image.affected", { subject: { image: imageOf(buildId, Number(isUrgent)) }, isUrgent });

async function passing(ms: number): Promise<void> {
  moveClock(ms);
  const alarm = await alarmOf(tux);
  if (alarm !== null && alarm <= Date.now()) await runDurableObjectAlarm(objectOf(tux));
}

describe("the setting", () => {
  it("is off until the account turns it on, in a service that sends mail", async () => {
    expect(await wants()).toBe(false);
    expect((await ask("PUT", "/account/mail?advisories=true")).status).toBe(200);
    expect(await wants()).toBe(true);
    expect((await ask("PUT", "/account/mail?advisories=false")).status).toBe(200);
    expect(await wants()).toBe(false);
    const refused = await tux.put("/account/mail?advisories=true", "");
    expect([refused.status, await refused.text()]).toEqual([400, expect.stringContaining("sends no mail")]);
  });

  it("is on the page of the account if the service sends mail, or if it is on", async () => {
    const firefox = browserWith((await sessionOf(tux)).secret);
    const panel = async () => (await pageOf(firefox.get("/account"))).querySelector("form[action='/account/mail']");
    expect(await panel()).toBeNull();
    await ask("PUT", "/account/mail?advisories=true");
    expect((await panel())?.textContent).toContain(`${tux.username}@example.org`);
    await firefox.post("/account/mail", { form_token: await firefox.formToken() });
    expect(await wants()).toBe(false);
    const again = { form_token: await firefox.formToken(), advisories: "true" };
    expect(textOf(await pageOf(firefox.post("/account/mail", again)), "main")).toContain("This service sends no mail.");
    expect(await wants()).toBe(false);
  });
});

/** The mails that the sender received. */
const read = (posted: { body: string }[]) =>
  posted.map(({ body }) => JSON.parse(body) as { to: string; subject: string; text: string });

describe("a mail", () => {
  beforeEach(async () => {
    await ask("PUT", "/account/mail?advisories=true");
    await give(sender);
  });
  afterEach(() => give({ MAIL_URL: "", MAIL_FROM: "", MAIL_TOKEN: undefined, BASE_URL: usual }));

  it("has the news of a day, and comes once a day", async () => {
    const { posted } = receiver(MAIL_URL);
    await affected(7);
    await affected(8);
    await passing(minuteMs);
    expect(posted).toEqual([]);
    await passing(5 * minuteMs);
    const [first = expect.fail("no mail")] = read(posted);
    expect(first).toMatchObject({ to: `${tux.username}@example.org`, subject: expect.stringContaining("2 images") });
    expect(first.text).toContain("https://kiln.test/appliance/5/build");
    expect(posted[0]?.headers.get("authorization")).toBe("Bearer secret");

    await affected(9);
    await passing(60 * minuteMs);
    expect(posted).toHaveLength(1);
    await passing(dayMs);
    expect(read(posted)[1]?.text).toContain("Kiosk 9");
    expect(read(posted)[1]?.text).not.toContain("Kiosk 7");
    await passing(2 * dayMs);
    expect(posted).toHaveLength(2);
    expect(await alarmOf(tux)).toBeNull();
  });

  it("does not wait for the next day if an advisory is known to be exploited", async () => {
    const { posted } = receiver(MAIL_URL);
    await affected(7);
    await passing(6 * minuteMs);
    await passing(2 * 60 * minuteMs);
    await affected(7, true);
    await passing(6 * minuteMs);
    expect(read(posted).map(({ subject }) => subject)).toEqual([
      "Kiln: updates fix vulnerabilities in 1 image",
      "Kiln: exploited vulnerabilities in 1 image",
    ]);
  });

  it("is tried again, for a day", async () => {
    const { posted, handler } = receiver(MAIL_URL, () => new Response(null, { status: 503 }));
    await affected(7);
    await passing(6 * minuteMs);
    await passing(minuteMs);
    handler.answer = () => new Response();
    await passing(5 * minuteMs);
    expect(posted).toHaveLength(3);
    expect(new Set(posted.map(({ headers }) => headers.get("idempotency-key"))).size).toBe(1);

    handler.answer = () => new Response(null, { status: 500 });
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    await affected(8);
    await passing(dayMs);
    await passing(2 * dayMs);
    expect(posted).toHaveLength(5);
    expect(await alarmOf(tux)).toBeNull();
    expect(logged.mock.calls.flat().join(" ")).not.toContain("secret");
  });

  it("is not sent to an account that no longer wants it, or is locked, nor about other events", async () => {
    const { posted } = receiver(MAIL_URL);
    await announceOne(tux, "build.finished");
    expect(await alarmOf(tux)).toBeNull();
    await affected(7);
    await ask("PUT", "/account/mail?advisories=false");
    await passing(6 * minuteMs);
    await affected(8);
    expect(await alarmOf(tux)).toBeNull();
    await ask("PUT", "/account/mail?advisories=true");
    await env.DB.prepare("UPDATE accounts SET locked_at = 1 WHERE id = ?").bind(tux.accountId).run();
    await affected(9);
    expect(await alarmOf(tux)).toBeNull();
    expect(posted).toEqual([]);
  });
});
