import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { signedIn, visit } from "../support/client.ts";
import {
  dial,
  joinedPair,
  objectOf,
  openControl,
  report,
  runningDrive,
  startDrive,
  statusOf,
  until,
} from "../support/testdrives.ts";
import { expectError } from "../support/xml.ts";

describe("a testdrive's page", () => {
  it("shows its screen, actions and VNC address, and loads its script", async () => {
    const { id, page, vnc } = await startDrive(await signedIn());

    const answer = await visit(page);

    expect(answer.headers.get("content-type")).toMatch(/^text\/html/);
    expect(answer.headers.get("content-security-policy")).toContain("connect-src 'self' wss://kiln.test");
    const html = await answer.text();
    expect(html).toContain(`Testdrive ${id}`);
    expect(html).toContain(vnc.password);
    expect(html).toContain(`<dd>${vnc.port}</dd>`);
    expect(html).not.toMatch(/<script(?![^>]* src=)/);
    const script = /<script type="module" src="([^"]+)"/.exec(html)?.[1] ?? "";
    const style = /<link rel="stylesheet" href="([^"]+)"/.exec(html)?.[1] ?? "";
    for (const path of [script, style]) expect((await env.ASSETS.fetch(`https://kiln.test${path}`)).status).toBe(200);
  });

  it("says that there is no VNC address if the agent has none", async () => {
    const { page } = await startDrive(await signedIn(), null);

    expect(await (await visit(page)).text()).toContain("has no address for VNC clients");
  });

  it.each(["", "/state", "/socket"])("answers 404 for a wrong token or id (%s)", async (call) => {
    const [drive, other] = [await startDrive(await signedIn()), await startDrive(await signedIn())];
    const token = other.page.split("/").at(-1);

    await expectError(await visit(`/testdrive/${drive.id}/${token}${call}`), 404, "unknown_error");
    await expectError(await visit(`/testdrive/${drive.id}x/${token}${call}`), 404, "unknown_error");
    await expectError(await visit(`/testdrive/999999/${token}${call}`), 404, "unknown_error");
  });

  it("answers 404 to a browser as a page, with the same headers", async () => {
    const answer = await visit("/testdrive/1/wrong", { headers: { accept: "text/html" } });

    expect(answer.status).toBe(404);
    expect(answer.headers.get("content-security-policy")).toContain("default-src 'none'");
    expect(await answer.text()).toContain("There is no testdrive at this URL.");
  });

  it("reports the state of the session", async () => {
    const drive = await startDrive(await signedIn());
    expect(await statusOf(drive)).toEqual({ state: "preparing", message: "", secondsLeft: null, viewers: 0 });
    const control = await openControl(drive);
    report(control, { type: "ready" });
    await until(async () => ((await statusOf(drive)).state === "running" ? true : undefined));

    const { browser } = await joinedPair({ ...drive, control });
    report(control, { type: "tcp_viewers", count: 2 });
    const status = await until(async () => {
      const now = await statusOf(drive);
      return now.viewers === 3 ? now : undefined;
    });

    expect(status.secondsLeft).toBeGreaterThan(59 * 60);
    expect(status.secondsLeft).toBeLessThanOrEqual(60 * 60);
    browser.socket.close();
  });

  it("accepts a viewer before the machine is ready", async () => {
    const drive = await startDrive(await signedIn());
    const control = await openControl(drive);
    const { browser, agent } = await joinedPair({ ...drive, control });

    report(control, { type: "ready" });
    agent.socket.send(new Uint8Array([82]));

    expect(new Uint8Array((await browser.next()) as ArrayBuffer)).toEqual(new Uint8Array([82]));
    browser.socket.close();
  });

  it("refuses a socket from another site, and a plain request", async () => {
    const { page } = await runningDrive(await signedIn());

    await expectError(await dial(`${page}/socket`, { origin: "https://evil.test" }), 403, "access_denied");
    expect((await dial(`${page}/socket`, { origin: "https://kiln.test" })).status).toBe(101);
    expect((await visit(`${page}/socket`)).status).toBe(426);
  });
});

const stop = (path: string, headers: Record<string, string> = {}) => visit(`${path}/stop`, { method: "POST", headers });

describe("POST stop", () => {
  it("ends the session and tells the agent", async () => {
    const drive = await runningDrive(await signedIn());

    const answer = await visit(`${drive.page}/stop`, { method: "POST", headers: { "sec-fetch-site": "same-origin" } });

    expect(await answer.json()).toMatchObject({ state: "ended", message: "You stopped it." });
    expect(JSON.parse(String(await drive.control.next()))).toEqual({ type: "stop", reason: "You stopped it." });
    const page = await visit(drive.page);
    expect(page.status).toBe(410);
    expect(await page.text()).toContain("Ended: You stopped it.");
    expect(await (await visit(`${drive.page}/stop`, { method: "POST" })).json()).toMatchObject({ state: "ended" });
  });

  it("refuses other sites and wrong tokens", async () => {
    const drive = await startDrive(await signedIn());
    await expectError(await stop(drive.page, { origin: "https://evil.test" }), 403, "access_denied");
    await expectError(await stop(`/testdrive/${drive.id}/wrong`), 404, "unknown_error");

    expect((await objectOf(drive).look())?.state.status).toBe("preparing");
  });
});
