import { env } from "cloudflare:workers";
import { eq } from "drizzle-orm";
import { createHash } from "node:crypto";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openDatabase } from "#storage/db";
import { agreements } from "#storage/schema";
import {
  accept,
  formTokenIn,
  loadWithAgreement,
  openAgreement,
  putAgreement,
  sendForm,
  tinyBase,
} from "../support/agreements.ts";
import { operate, signedIn, type Client } from "../support/client.ts";
import { expectError } from "../support/xml.ts";

const agreement = {
  title: "Tiny <Enterprise> Agreement",
  text: "You & yours <script>alert(1)</script>\nkeep the rules.\n\nAll of them.",
};
const textSha256 = createHash("sha256").update(agreement.text).digest("hex");

let tux: Client;
beforeAll(() => loadWithAgreement(agreement));
beforeEach(async () => void (tux = await signedIn()));

const acceptances = async () =>
  await openDatabase(env).query.agreements.findMany({ where: eq(agreements.accountId, tux.accountId) });

describe("GET /agreements/<base system>", () => {
  it.each([
    ["the password", "correct horse"],
    ["the API key", undefined],
  ])("shows the text, escaped, to a user with %s", async (_what, secret) => {
    const answer = await openAgreement(tux, secret === undefined ? {} : { secret });

    expect(answer.headers.get("content-type")).toMatch(/^text\/html/);
    expect(answer.headers.get("cache-control")).toBe("no-store, no-transform");
    expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
    const html = await answer.text();
    expect(html).toContain("<h1>Tiny &lt;Enterprise&gt; Agreement</h1>");
    expect(html).toContain("<p>You &amp; yours &lt;script&gt;alert(1)&lt;/script&gt;<br/>keep the rules.</p>");
    expect(html).toContain("<p>All of them.</p>");
    expect(html).not.toContain("<script>");
    expect(formTokenIn(html)).toMatch(/^[0-9a-f]{64}$/);
    expect(await acceptances()).toEqual([]);
  });

  it("asks for credentials in the realm of the pages", async () => {
    const answer = await openAgreement(tux, { secret: "wrong" });

    expect(answer.status).toBe(401);
    expect(answer.headers.get("www-authenticate")).toBe('Basic realm="Kiln account", charset="UTF-8"');
    expect(await answer.text()).not.toContain("rules");
  });

  it.each(["/agreements/unknown", "/agreements/%3Cb%3E", "/agreements/%ff"])("answers 404 for %s", async (path) => {
    await expectError(await openAgreement(tux, { path }), 404, "invalid_base_system");
  });

  it("answers 404 for a base system without an agreement", async () => {
    await loadWithAgreement();

    await expectError(await openAgreement(tux), 404, "invalid_base_system");
    await loadWithAgreement(agreement);
  });
});

describe("POST /agreements/<base system>", () => {
  it("records the account, the text's digest and the time", async () => {
    const before = Date.now();

    const answer = await accept(tux);

    expect(answer.status).toBe(200);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    const html = await answer.text();
    expect(html).toContain("You accepted it on");
    expect(html).not.toContain('name="form_token"');
    const [recorded, ...more] = await acceptances();
    expect(recorded).toMatchObject({ accountId: tux.accountId, baseSystem: tinyBase, textSha256 });
    expect(recorded?.acceptedAt.getTime()).toBeGreaterThanOrEqual(before);
    expect(more).toEqual([]);
    expect(await (await openAgreement(tux)).text()).toContain("You accepted it on");
  });

  it("changes nothing the second time", async () => {
    const formToken = formTokenIn(await (await openAgreement(tux)).text());
    await sendForm(tux, formToken);
    const first = await acceptances();

    const again = await sendForm(tux, formToken);

    expect(again.status).toBe(200);
    expect(await acceptances()).toEqual(first);
  });

  it("refuses a form without its token, or of another account", async () => {
    const foreign = formTokenIn(await (await openAgreement(await signedIn())).text());

    await expectError(await sendForm(tux, ""), 403, "access_denied");
    await expectError(await sendForm(tux, foreign), 403, "access_denied");
    expect(await acceptances()).toEqual([]);
  });

  it("refuses the form of a text that has changed since", async () => {
    const formToken = formTokenIn(await (await openAgreement(tux)).text());
    await loadWithAgreement({ ...agreement, text: "Other rules." });

    const answer = await sendForm(tux, formToken, { accept: "text/html" });

    expect(answer.status).toBe(403);
    expect(await answer.text()).toContain("read the agreement again");
    expect(await acceptances()).toEqual([]);
    await loadWithAgreement(agreement);
  });

  it.each([{ "sec-fetch-site": "cross-site" }, { origin: "https://evil.test" }])(
    "refuses a form from another site: %o",
    async (headers) => {
      const formToken = formTokenIn(await (await openAgreement(tux)).text());

      await expectError(await sendForm(tux, formToken, headers), 403, "access_denied");
      expect(await acceptances()).toEqual([]);
    },
  );

  it("is refused in read-only mode", async () => {
    await operate("PUT", "/read-only", { on: true });

    await expectError(await accept(tux), 400, "read_only_mode_active");

    await operate("PUT", "/read-only", { on: false });
    expect(await acceptances()).toEqual([]);
  });
});

describe("the operator's list of agreements", () => {
  it("lists who accepted which text, and whether it is current", async () => {
    await accept(tux);
    const mine = async () => {
      const all = (await (await operate("GET", "/agreements")).json()) as { agreements: { username: string }[] };
      return all.agreements.filter(({ username }) => username === tux.username);
    };

    expect(await mine()).toEqual([
      { username: tux.username, baseSystem: tinyBase, textSha256, acceptedAt: expect.any(String), current: true },
    ]);
    await loadWithAgreement({ ...agreement, text: "Other rules." });
    expect(await mine()).toMatchObject([{ textSha256, current: false }]);
    await loadWithAgreement(agreement);
  });

  it.each([{ title: "", text: "x" }, { title: "x", text: "" }, { title: "x" }, "x"])(
    "a catalogue with the agreement %j is refused",
    async (wrong) => {
      expect((await putAgreement(wrong)).status).toBe(400);
      expect(await (await openAgreement(tux)).text()).toContain("All of them.");
    },
  );
});
