import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { maxGuestRequestBytes } from "#lib/contract/index";
import { app } from "../../src/app.ts";
import { signedIn, visit } from "../support/client.ts";
import { answerVisit, bodyOfVisit, webDrive } from "../support/guest-web.ts";
import { objectOf, runningDrive, startDrive } from "../support/testdrives.ts";

const text = { "content-type": "text/plain" };

describe("the origin of guests", () => {
  it("follows the name under which a request reaches a local service, and serves no pages", async () => {
    const local = { ...env, BASE_URL: "", TESTDRIVE_ORIGIN: "" };
    const statusAt = async (origin: string) =>
      (await app.fetch(new Request(`${origin}/sign_in`), local, createExecutionContext())).status;
    for (const port of [8787, 9000, 8787]) {
      expect(await statusAt(`http://127.0.0.1:${port}`)).toBe(200);
      expect(await statusAt(`http://guests.localhost:${port}`)).toBe(404);
    }
    // Directly after each other, without the service between them.
    expect(await statusAt("http://guests.localhost:9000")).toBe(404);
  });
});

describe("the web server of a testdrive's guest", () => {
  it("is reached through the agent, and answers in a sandbox", async () => {
    const drive = await webDrive(await signedIn());

    const page = visit(`${drive.web}a/b?c=d%20e`);
    const { order, answered } = await drive.guestSays(
      { headers: { "content-type": "text/html", etag: '"1"' } },
      "<h1>hi</h1>",
    );
    const answer = await page;

    expect(order.request).toEqual({
      method: "GET",
      target: "/a/b?c=d%20e",
      headers: { "accept-encoding": "identity" },
      hasBody: false,
    });
    expect([answer.status, await answer.text(), answered.status]).toEqual([200, "<h1>hi</h1>", 204]);
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "content-type": "text/html",
      etag: '"1"',
      "content-security-policy": expect.stringMatching(/^sandbox (?!.*allow-same-origin)/),
      "cross-origin-opener-policy": "same-origin",
      "access-control-allow-origin": "*",
      "x-content-type-options": "nosniff",
      "referrer-policy": "no-referrer",
      "cache-control": "no-store",
    });
  });

  it("gets no cookie, credentials or origin; its own are dropped", async () => {
    const drive = await webDrive(await signedIn());

    const headers = { cookie: "a=b", authorization: "Basic eDp5", referer: "https://kiln.test/x", accept: "text/css" };
    const page = visit(drive.web, { headers: { ...headers, "x-forwarded-for": "192.0.2.1" } });
    const secrets = { "set-cookie": "a=b", "www-authenticate": "Basic realm=Kiln", "clear-site-data": '"*"' };
    const policies = { "content-security-policy": "default-src *", "access-control-allow-origin": "https://evil.test" };
    const { order } = await drive.guestSays({ headers: { ...text, ...secrets, ...policies, refresh: "0" } }, "x");
    const answer = await page;

    expect(order.request.headers).toEqual({ accept: "text/css", "accept-encoding": "identity" });
    for (const name of [...Object.keys(secrets), "refresh"]) expect(answer.headers.has(name), name).toBe(false);
    expect(answer.headers.get("content-security-policy")).toMatch(/^sandbox /);
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
  });

  it("gets the form data of its sandboxed page unchanged", async () => {
    const drive = await webDrive(await signedIn());

    const headers = { "content-type": "application/x-www-form-urlencoded", origin: "null" };
    const page = visit(`${drive.web}form`, { method: "POST", headers, body: "a=1&b=2" });
    const order = await drive.nextVisit();
    const body = await (await bodyOfVisit(drive, order.visit)).text();
    const again = await bodyOfVisit(drive, order.visit);
    await objectOf(drive).stop();

    expect(order.request).toMatchObject({ method: "POST", target: "/form", hasBody: true });
    expect(order.request.headers).toMatchObject({ "content-length": "7", "content-type": headers["content-type"] });
    expect([body, again.status, (await page).status]).toEqual(["a=1&b=2", 410, 410]);
  });

  it("gets all of a body that it reads after it has begun to answer", async () => {
    const drive = await webDrive(await signedIn());
    const sent = new Uint8Array(512 * 1024).fill(7);

    const page = visit(drive.web, { method: "POST", body: sent });
    const { visit: id } = await drive.nextVisit();
    const answer = new TransformStream<Uint8Array, Uint8Array>();
    const answered = answerVisit(drive, id, { status: 200, headers: {} }, answer.readable);
    const shown = await page;
    await scheduler.wait(100); // in which the service could discard the body
    const got = await (await bodyOfVisit(drive, id)).bytes();
    await answer.writable.getWriter().close();

    expect([got.length, got.every((byte) => byte === 7)]).toEqual([sent.length, true]);
    expect([shown.status, await shown.text(), (await answered).status]).toEqual([200, "", 204]);
  });

  it("passes an encoded body on unchanged", async () => {
    const drive = await webDrive(await signedIn());
    const coded = await new Response(new Blob(["plain"]).stream().pipeThrough(new CompressionStream("gzip"))).bytes();

    const page = visit(drive.web);
    await drive.guestSays({ headers: { "content-encoding": "gzip", "content-length": String(coded.length) } }, coded);

    // The client decodes it once.
    expect(await (await page).text()).toBe("plain");
  });

  it.each([
    ["/elsewhere?x#y", "elsewhere?x#y"],
    ["next", "a/next"],
    ["http://10.0.2.15/there", "there"],
    ["..//up", "/up"],
  ])("keeps a redirect to %s within the guest", async (location, inside) => {
    const drive = await webDrive(await signedIn());

    const page = visit(`${drive.web}a/b`, { redirect: "manual" });
    await drive.guestSays({ status: 302, headers: { location } });

    expect((await page).headers.get("location")).toBe(new URL(drive.web).pathname + inside);
  });

  it.each(["https://evil.test/", "//evil.test/", "http://10.0.2.2/", "javascript:alert(1)"])(
    "does not redirect visitors to %s",
    async (location) => {
      const drive = await webDrive(await signedIn());

      const page = visit(drive.web, { redirect: "manual" });
      await drive.guestSays({ status: 302, headers: { location } });
      const answer = await page;

      expect([answer.status, answer.headers.has("location")]).toEqual([502, false]);
    },
  );

  it("answers HEAD and 304 without a body, and with the guest's length", async () => {
    const drive = await webDrive(await signedIn());

    const head = visit(drive.web, { method: "HEAD" });
    await drive.guestSays({ headers: { ...text, "content-length": "1234" } });
    const unchanged = visit(drive.web, { headers: { "if-none-match": '"1"' } });
    await drive.guestSays({ status: 304, headers: { etag: '"1"' } });

    expect([(await head).status, (await head).headers.get("content-length")]).toEqual([200, "1234"]);
    expect([(await unchanged).status, await (await unchanged).text()]).toEqual([304, ""]);
  });

  it("lets a page without an origin send requests to its own server", async () => {
    const drive = await webDrive(await signedIn());

    const headers = { origin: "null", "access-control-request-method": "PUT" };
    const answer = await visit(`${drive.web}data`, { method: "OPTIONS", headers });

    expect([answer.status, answer.headers.get("access-control-allow-methods")]).toEqual([
      204,
      expect.stringContaining("PUT"),
    ]);
  });

  it("redirects to its root, so that relative links are right", async () => {
    const drive = await webDrive(await signedIn());

    const answer = await visit(drive.web.slice(0, -1) + "?q", { redirect: "manual" });

    expect([answer.status, answer.headers.get("location")]).toEqual([308, `${new URL(drive.web).pathname}?q`]);
  });

  it("refuses requests that it cannot pass on", async () => {
    const drive = await webDrive(await signedIn());

    const answers = await Promise.all([
      visit(drive.web, { method: "POST", headers: { "content-length": String(maxGuestRequestBytes + 1) }, body: "" }),
      visit(`${drive.web}${"x".repeat(4096)}`),
      visit(drive.web, { headers: { "user-agent": "x".repeat(17_000) } }),
    ]);

    expect(answers.map(({ status }) => status)).toEqual([413, 400, 400]);
  });

  it("answers 404 without a network and for a wrong token", async () => {
    const tux = await signedIn();
    const [drive, plain] = [await webDrive(tux), await startDrive(tux)];
    const pageToken = drive.page.split("/").at(-1);
    const token = drive.web.split("/").at(-3);

    const paths = [
      `/testdrives/${drive.id}/${pageToken}/http/`,
      `/testdrives/${plain.id}/${plain.page.split("/").at(-1)}/http/`,
      `/testdrives/${plain.id}/${token}/http/`,
      `/testdrives/${plain.id}/null/http/`,
      `/testdrives/${drive.id}x/${token}/http/`,
      `/testdrives/999999/${token}/http/`,
    ];

    for (const path of paths) expect((await visit(`https://guests.test${path}`)).status, path).toBe(404);
    expect((await visit(`/testdrive/${drive.id}/${token}`)).status).toBe(404);
  });

  it("answers 410 after its session", async () => {
    const drive = await webDrive(await signedIn());
    await objectOf(drive).stop();

    const answer = await visit(drive.web);

    expect([answer.status, await answer.text()]).toEqual([410, "This testdrive has ended."]);
    expect(answer.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  });

  it("is linked on the testdrive's page if there is a network", async () => {
    const tux = await signedIn();
    const [drive, plain] = [await webDrive(tux), await runningDrive(tux)];

    expect(await (await visit(drive.page)).text()).toContain(`href="${drive.web}"`);
    expect(await (await visit(plain.page)).text()).not.toContain('id="web"');
  });

  it("shows a browser a page that tries again until the guest answers", async () => {
    const drive = await webDrive(await signedIn());
    const ask = (accept: string) => visit(drive.web, { headers: { accept } });
    const said = { status: 502, headers: text, isExcuse: true } as const;

    const page = ask("text/html,*/*");
    await drive.guestSays(said, "No web server <answers>.\n");
    const answer = await page;
    expect([answer.status, answer.headers.get("content-type")]).toEqual([502, "text/html; charset=utf-8"]);
    expect(answer.headers.get("content-security-policy")).toMatch(/^sandbox /);
    expect(await answer.text()).toMatch(/http-equiv="refresh".*No web server &lt;answers&gt;\./s);

    const program = ask("application/json");
    await drive.guestSays(said, "No web server answers.\n");
    expect(await (await program).text()).toBe("No web server answers.\n");

    const own = ask("text/html");
    await drive.guestSays({ status: 504, headers: text }, "the guest's own");
    expect(await (await own).text()).toBe("the guest's own");
  });
});
