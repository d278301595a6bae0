import { createExecutionContext } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { app } from "../../src/app.ts";
import { signedIn, visit } from "../support/client.ts";
import { webDrive } from "../support/guest-web.ts";
import { bootableBuild, startDrive } from "../support/testdrives.ts";
import { expectError, readXml } from "../support/xml.ts";

/** The Worker with a separate origin for guests. */
const fetchSeparately = (url: string, init?: RequestInit) =>
  app.fetch(new Request(url, init), { ...env, TESTDRIVE_ORIGIN: "https://guests.test" }, createExecutionContext());

describe("POST testdrives with network=on", () => {
  it("tells the agent, and returns the URL of the machine's web server", async () => {
    const tux = await signedIn();

    const drive = await startDrive(tux, null, { network: "on" });
    const { testdrives } = await readXml(await tux.get("/testdrives"));

    expect(drive.claim.hasNetwork).toBe(true);
    expect(drive.web).toMatch(new RegExp(`^/testdrives/${drive.id}/[\\w-]{32}/http/$`));
    expect(drive.web).not.toContain(drive.page.split("/").at(-1));
    expect(testdrives.testdrive).toMatchObject({ id: String(drive.id), web_url: `https://kiln.test${drive.web}` });
  });

  it("includes the URL in JSON", async () => {
    const tux = await signedIn();
    const drive = await startDrive(tux, null, { network: "on" });

    const answer = await tux.get("/testdrives", { headers: { accept: "application/json" } });

    expect(JSON.stringify(await answer.json())).toContain(`"web_url":"https://kiln.test${drive.web}"`);
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

describe("TESTDRIVE_ORIGIN", () => {
  it("serves guests' pages, and only those", async () => {
    const drive = await webDrive(await signedIn());

    expect((await fetchSeparately(`https://kiln.test${drive.web}`)).status).toBe(404);
    expect((await fetchSeparately(`https://guests.test${drive.page}`)).status).toBe(404);
    expect((await fetchSeparately("https://guests.test/api/v2/user/account")).status).toBe(404);
    expect((await fetchSeparately(`https://kiln.test${drive.page}`)).status).toBe(200);

    const page = fetchSeparately(`https://guests.test${drive.web}`);
    await drive.guestSays({ headers: { "content-type": "text/plain" } }, "apart");
    expect(await (await page).text()).toBe("apart");
  });

  it("is in the link on the testdrive's page", async () => {
    const drive = await webDrive(await signedIn());

    expect(await (await fetchSeparately(`https://kiln.test${drive.page}`)).text()).toContain(
      `href="https://guests.test${drive.web}"`,
    );
    expect(await (await visit(drive.page)).text()).toContain(`href="https://kiln.test${drive.web}"`);
  });
});
