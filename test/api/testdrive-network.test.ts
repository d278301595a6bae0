import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { guestOriginProblem } from "#domain/testdrives/guest-origin";
import { app } from "../../src/app.ts";
import { signedIn, visit } from "../support/client.ts";
import { webDrive } from "../support/guest-web.ts";
import { bootableBuild, startDrive } from "../support/testdrives.ts";
import { expectError, readXml } from "../support/xml.ts";

/** The Worker with a different TESTDRIVE_ORIGIN. */
const fetchWith = (origin: string, url: string, init?: RequestInit) =>
  app.fetch(new Request(url, init), { ...env, TESTDRIVE_ORIGIN: origin }, createExecutionContext());

describe("POST testdrives with network=on", () => {
  it("notifies the agent, and returns the URL of the machine's web server", async () => {
    const tux = await signedIn();

    const drive = await startDrive(tux, null, { network: "on" });
    const { testdrives } = await readXml(await tux.get("/testdrives"));

    expect(drive.claim.hasNetwork).toBe(true);
    expect(drive.web).toMatch(new RegExp(`^https://guests\\.test/testdrives/${drive.id}/[\\w-]{32}/http/$`));
    expect(drive.web).not.toContain(drive.page.split("/").at(-1));
    expect(testdrives.testdrive).toMatchObject({ id: String(drive.id), web_url: drive.web });
  });

  it("includes the URL in JSON", async () => {
    const tux = await signedIn();
    const drive = await startDrive(tux, null, { network: "on" });

    const answer = await tux.get("/testdrives", { headers: { accept: "application/json" } });

    expect(JSON.stringify(await answer.json())).toContain(`"web_url":"${drive.web}"`);
  });

  it.each([{}, { network: "off" }])("gives no network for %j, and the usual answers", async (params) => {
    const tux = await signedIn();

    const drive = await startDrive(tux, null, params);
    const list = await (await tux.get("/testdrives")).text();

    expect([drive.claim.hasNetwork, drive.web]).toEqual([false, undefined]);
    expect(list).toContain(`<state>new</state>\n    <build_id>${drive.claim.buildId}</build_id>\n  </testdrive>`);
  });

  it.each(["yes", "ON", "true", "nat"])("refuses network=%s before it takes a slot", async (network) => {
    const tux = await signedIn();
    const build = await bootableBuild(tux);

    await expectError(await tux.post("/testdrives", { build_id: build.id, network }), 400, "invalid_value");

    expect(await (await tux.get("/testdrives")).text()).not.toContain("<testdrive>");
  });
});

describe("the origin of guests", () => {
  it("serves their pages, and only those", async () => {
    const drive = await webDrive(await signedIn());

    expect((await visit(new URL(drive.web).pathname)).status).toBe(404);
    for (const path of [drive.page, "/api/v2/user/account", "/", "/user/show_api_key"])
      expect((await visit(`https://guests.test${path}`)).status, path).toBe(404);
    expect((await visit(drive.page)).status).toBe(200);

    const page = visit(drive.web);
    await drive.guestSays({ headers: { "content-type": "text/plain" } }, "apart");
    expect(await (await page).text()).toBe("apart");
  });

  it.each(["http://localhost:8787", "http://127.0.0.1:8787", "http://[::1]:8787", "http://kiln.localhost:8787"])(
    "is guests.localhost for a service at %s, without being told",
    async (service) => {
      const drive = await webDrive(await signedIn());
      const guests = `http://guests.localhost:8787${new URL(drive.web).pathname}`;

      expect(await (await fetchWith("", `${service}${drive.page}`)).text()).toContain(`href="${guests}"`);
      const here = guests.replace("guests.localhost:8787", new URL(service).host);
      expect((await fetchWith("", here)).status).toBe(404);
      expect((await fetchWith("", here.replace("testdrives", "testdrive%73"))).status).toBe(404);
      expect((await fetchWith("", `http://guests.localhost:8787${drive.page}`)).status).toBe(404);
      const page = fetchWith("", guests);
      await drive.guestSays({ headers: { "content-type": "text/plain" } }, "apart");
      expect(await (await page).text()).toBe("apart");
    },
  );

  it("is nowhere for a service at another address, which refuses a network", async () => {
    const tux = await signedIn();
    const { id } = await bootableBuild(tux);
    const drive = await webDrive(tux);
    const url = `http://192.0.2.7:8787/api/v2/user/testdrives?build_id=${id}&network=on`;
    const headers = { authorization: `Basic ${btoa(`${tux.username}:${tux.apiKey}`)}` };

    const message = await expectError(await fetchWith("", url, { method: "POST", headers }), 400, "invalid_value");

    expect(message).toContain("192.0.2.7:8787: guests' web pages need a different host name than the service");
    expect(await (await fetchWith("", `http://192.0.2.7:8787${drive.page}`)).text()).not.toContain('id="web"');
    expect((await fetchWith("", `http://192.0.2.7:8787${new URL(drive.web).pathname}`)).status).toBe(404);
  });
});

describe("guestOriginProblem", () => {
  const production = { MODE: "cloudflare", BASE_URL: "https://kiln.example.org" };
  it.each([
    ["Set TESTDRIVE_ORIGIN", ""],
    ["cookies ignore ports", "https://kiln.example.org:8443"],
    ["cookies ignore ports", "https://kiln.example.org"],
    ["under a different host name", "guests.example.net"],
    ["under a different host name", "https://guests.example.net/path"],
  ])("says %j for %j in production", (words, TESTDRIVE_ORIGIN) => {
    expect(guestOriginProblem({ ...production, TESTDRIVE_ORIGIN })).toContain(words);
  });

  it("is satisfied with another host name, and embedded with none", () => {
    expect(guestOriginProblem({ ...production, TESTDRIVE_ORIGIN: "https://guests.example.net" })).toBeUndefined();
    expect(guestOriginProblem({ MODE: "embedded", BASE_URL: "", TESTDRIVE_ORIGIN: "" })).toBeUndefined();
  });
});
