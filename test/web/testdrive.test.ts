import { env } from "cloudflare:workers";
import { describe, expect, it } from "vitest";
import { browser, browserWith, sessionOf } from "../support/browser.ts";
import { signedIn, visit } from "../support/client.ts";
import { pageOf, textOf } from "../support/html.ts";
import { listOf, modifiedDrive, modifiedFile } from "../support/modified.ts";
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
import { expectError, readXml } from "../support/xml.ts";

describe("a testdrive's page", () => {
  it("shows its screen, actions and VNC address, and loads its script", async () => {
    const { page, vnc } = await startDrive(await signedIn());

    const answer = await visit(page);

    expect(answer.headers.get("content-type")).toMatch(/^text\/html/);
    expect(answer.headers.get("content-security-policy")).toContain("connect-src 'self' wss://kiln.test");
    const html = await answer.text();
    expect(html).toContain(vnc.password);
    expect(html).toContain(`>${vnc.port}</dd>`);
    expect(html).not.toMatch(/<script(?![^>]* src=)/);
    const script = /<script type="module" src="([^"]+)"/.exec(html)?.[1] ?? "";
    const style = /<link rel="stylesheet" href="([^"]+)"/.exec(html)?.[1] ?? "";
    for (const path of [script, style]) expect((await env.ASSETS.fetch(`https://kiln.test${path}`)).status).toBe(200);
  });

  it("shows that there is no VNC address if the agent has none", async () => {
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

  it.each(["/appliances", "", "/build"])(
    "is found again from the list and from pages of its appliance: %s",
    async (at) => {
      const tux = await signedIn();
      const drive = await startDrive(tux);
      const firefox = browser();
      await firefox.beginSession(tux);
      const { appliance } = (await readXml(await tux.get("/appliances"))).appliances;
      const path = at === "/appliances" ? at : `/appliance/${appliance.id}${at}`;
      const notice = async () => (await pageOf(firefox.get(path))).querySelector("#testdrives .notice");

      expect((await notice())?.textContent).toContain("A testdrive of Kiosk 0.0.1 oem is starting.");
      expect((await notice())?.querySelector("a")?.getAttribute("href")).toBe(drive.page);
      const control = await openControl(drive);
      report(control, { type: "ready" });
      const running = await until(async () => {
        const text = (await notice())?.textContent ?? "";
        return text.includes("is running") ? text : undefined;
      });
      expect(running).toMatch(/No one is connected, so it ends in \d+ s\./);
    },
  );

  it("shows how long it goes on after its last viewer has left", async () => {
    const { page } = await startDrive(await signedIn());
    expect(textOf(await pageOf(visit(page)), ".strip dl")).toMatch(/If you leave, it ends after ?60 s/);
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

describe("what its page is called, and where it leads", () => {
  it("names the appliance and version; who has started it may start again and go back", async () => {
    const tux = await signedIn();
    const drive = await startDrive(tux);
    const own = browserWith((await sessionOf(tux)).secret);
    const page = await pageOf(own.get(drive.page));
    expect([page.title, textOf(page, "h1")]).toEqual(["Testdrive of Kiosk 0.0.1 · Kiln", "Kiosk 0.0.1 oem"]);
    expect(page.querySelector("h1 a")?.getAttribute("href")).toMatch(/^\/appliance\/\d+/);
    const isHidden = (id: string, on = page) => on.querySelector(id)?.hasAttribute("hidden");
    expect(["#veil", "#over"].map((id) => isHidden(id))).toEqual([false, true]);
    await stop(drive.page);
    const over = await pageOf(own.get(drive.page));
    expect(["#veil", "#over"].map((id) => isHidden(id, over))).toEqual([true, false]);
    expect(textOf(over, "#over")).toMatch(
      /The session is over ?Ended: You stopped it\. ?Start again ?Back to the appl/,
    );
    expect(over.querySelector("#over form")?.getAttribute("action")).toBe("/testdrives");
  });

  it("shows others the screen, and nothing of what is the account's", async () => {
    const drive = await startDrive(await signedIn());
    const eve = browserWith((await sessionOf(await signedIn())).secret);
    for (const who of [eve, browser()]) {
      const page = await pageOf(who.get(`${drive.page}?panel=files`));
      expect([textOf(page, "h1"), page.querySelector("#over form, #over a, h1 a, [data-swap]")]).toEqual([
        "Kiosk 0.0.1 oem",
        null,
      ]);
      expect(page.querySelector("#drawer")?.hasAttribute("hidden")).toBe(true);
    }
    const form = { form_token: await eve.formToken(), do: "keep", path: "/etc/motd" };
    expect((await eve.post(`${drive.page}/modified_files`, form)).status).toBe(404);
    expect((await eve.get(`${drive.page}/modified_files/archive`)).status).toBe(404);
  });
});

describe("the modified files beside the screen", () => {
  const difference = "--- a/etc/motd\n+++ b/etc/motd\n@@ -1 +1 @@\n-Welcome\n+Welcome, reader <b>\n";
  const files = [
    modifiedFile({ path: "/etc/motd", change: "changed", difference, size: 20 }),
    modifiedFile({ path: "/etc/issue", change: "deleted" }),
    modifiedFile({ path: "/var/log/messages" }),
  ];

  it("show their differences, and are kept", async () => {
    const tux = await signedIn();
    const drive = await modifiedDrive(tux, ({ wanted, filter: { paths } }) =>
      wanted.kind === "list"
        ? listOf(files.filter(({ path }) => paths.length === 0 || paths.includes(path)))
        : { bytes: "Welcome, reader <b>\n", size: 20 },
    );
    const own = browserWith((await sessionOf(tux)).secret);
    const page = await pageOf(own.get(`${drive.page}?panel=files`));
    expect([...page.querySelectorAll(".files label")].map((label) => label.textContent)).toEqual([
      "/etc/motd",
      "/etc/issue",
      "/var/log/messages",
    ]);
    expect(textOf(page, ".files del")).toBe("Welcome");
    expect(textOf(page, ".files ins")).toBe("Welcome, reader <b>");
    expect(textOf(page, ".drawer .cautioned summary")).toBe("Logs and caches 1 file, 6 bytes");
    expect(page.querySelector("[value='/etc/issue']")?.hasAttribute("disabled")).toBe(true);
    const form = { form_token: await own.formToken(), do: "keep" };
    const none = await own.post(`${drive.page}/modified_files`, form);
    expect([none.status, textOf(await pageOf(none), ".drawer [role=alert]")]).toEqual([
      422,
      "Choose at least one file.",
    ]);
    const done = await own.post(`${drive.page}/modified_files`, { ...form, path: "/etc/motd" });
    expect([done.status, done.headers.get("location")]).toEqual([303, `${drive.page}?panel=files`]);
    expect(textOf(await pageOf(own.get(`${drive.page}?panel=files`)), ".drawer [role=status]")).toBe(
      "1 file is kept in the appliance.",
    );
    const rebuilt = await own.post(`${drive.page}/modified_files`, { ...form, do: "rebuild", path: "/etc/motd" });
    expect(rebuilt.headers.get("location")).toMatch(/^\/appliance\/\d+\/build$/);
    const archive = await own.get(`${drive.page}/modified_files/archive`);
    expect(archive.headers.get("content-disposition")).toContain(".tar.gz");
  });

  it("are chosen only where a person has changed something; a machine's own are below a warning", async () => {
    const tux = await signedIn();
    const session = [
      "/etc/ssh/ssh_host_ed25519_key",
      "/etc/machine-id",
      "/etc/shadow",
      "/var/lib/systemd/random-seed",
      "/var/lib/dhcpcd/secret",
      "/etc/.updated",
      "/var/www/html/index.html",
    ].map((path) => modifiedFile({ path }));
    const swap = modifiedFile({ path: "/var/lib/kiln/swap", size: 537_000_000 });
    const drive = await modifiedDrive(tux, () => listOf([...session, swap]));
    const own = browserWith((await sessionOf(tux)).secret);
    const page = await pageOf(own.get(`${drive.page}?panel=files`));
    const pathsOf = (selector: string) =>
      [...page.querySelectorAll(selector)].map((box) => box.getAttribute("value") ?? "");
    expect(pathsOf("[name=path][checked]")).toEqual(["/var/www/html/index.html"]);
    expect(pathsOf("[name=path]")[0]).toBe("/var/www/html/index.html");
    expect(pathsOf(".cautioned [name=path]")).toHaveLength(7);
    expect([...page.querySelectorAll(".cautioned")].every((group) => !group.hasAttribute("open"))).toBe(true);
    expect(textOf(page, ".cautioned .notice")).toContain("Every copy of the appliance would have the same keys");
    expect(textOf(page, ".foot-row [value=rebuild]")).toBe("Keep 1 (6 bytes) and rebuild");
  });

  it("stay chosen as they were if the form is refused", async () => {
    const tux = await signedIn();
    const drive = await modifiedDrive(tux, ({ filter: { paths } }) =>
      paths.length === 0
        ? listOf(["/srv/one", "/srv/two"].map((path) => modifiedFile({ path })))
        : { kind: "refused", why: "gone", message: "The disk is gone." },
    );
    const own = browserWith((await sessionOf(tux)).secret);
    const form = { form_token: await own.formToken(), do: "keep", path: "/srv/two" };
    const page = await pageOf(own.post(`${drive.page}/modified_files`, form));
    expect(textOf(page, ".drawer [role=alert]")).toContain("The disk is gone.");
    expect([...page.querySelectorAll("[name=path][checked]")].map((box) => box.getAttribute("value"))).toEqual([
      "/srv/two",
    ]);
  });

  it("shows why they cannot be read", async () => {
    const tux = await signedIn();
    const drive = await runningDrive(tux);
    const page = await pageOf(browserWith((await sessionOf(tux)).secret).get(`${drive.page}?panel=files`));
    expect(textOf(page, ".drawer .notice")).not.toBe("");
  });
});
