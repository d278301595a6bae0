import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createServer, type AddressInfo, type Server } from "node:net";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { listenersIn } from "../../builder-agent/test/support/listeners.ts";
import { visitGuest } from "./support/guests.ts";
import { inBrowser } from "./support/page.ts";
import { personOf } from "./support/person.ts";
import { restClient, type RestClient } from "./support/rest.ts";
import { openViewer, relayWire, type Viewer } from "./support/rfb.ts";
import { startService, until, type Service } from "./support/service.ts";

// Tests a machine with a web server and a network: the relay lets visitors in, and nothing gets out. At the end the
// agent is killed, so this file uses its own service.

const supportFile = (name: string) => readFileSync(new URL(`support/${name}`, import.meta.url));
let service: Service;
let tux: RestClient;
let applianceId: string;
let session: { id: string; url: string; web_url: string; server: { vnc: { port: string } } };
let viewer: Viewer;

beforeAll(async () => {
  service = await startService();
  tux = restClient(service.ready());
  const buildId = await buildWithWebServer();
  session = (await tux.call("POST", "/testdrives", { build_id: buildId, network: "on" })).testdrive;
  viewer = await until("the relay is open", 60, () => watch());
});

afterAll(async () => {
  viewer?.close();
  await service.stop();
});

/** Made from the template "Server", which includes a web server. */
async function buildWithWebServer(): Promise<string> {
  applianceId = (await tux.call("POST", "/appliances", { clone_from: 2, arch: "x86_64" })).appliance.id;
  await addFile("/srv/www/cgi-bin/probe", supportFile("network-probe.sh"));
  await addFile("/srv/www/cgi-bin/echo", "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n'\nexec cat\n");
  await addFile("/srv/www/curious.html", supportFile("curious-page.html"));
  const buildId = await startBuild();
  expect((await tux.watchBuild(buildId, 400)).at(-1)).toMatchObject({ state: "finished" });
  return buildId;
}

const startBuild = async (more: { force?: string } = {}): Promise<string> =>
  (await tux.call("POST", "/running_builds", { appliance_id: applianceId, image_type: "oem", ...more })).build.id;

async function addFile(place: string, content: string | Buffer): Promise<void> {
  const [filename = "", path = ""] = [place.split("/").at(-1), place.slice(0, place.lastIndexOf("/"))];
  const { addFile } = personOf(service.stateDir, service.ready());
  await addFile(applianceId, content, { filename, path, permissions: "0755" });
}

const watch = () =>
  relayWire(`${session.url.replace(/^http/, "ws")}/socket`)
    .then((wire) => openViewer(wire))
    .catch(() => undefined);

const fromGuest = (path: string, init?: { method: string; body: Buffer }) => visitGuest(session.web_url + path, init);
const sessionDir = () => join(service.stateDir, "agent", "testdrives", session.id);

describe("a testdrive with network=on", () => {
  it("shows the machine's web page to anyone with its URL", async () => {
    const page = await until("the guest's web server answers", 400, async () => {
      const answer = await fromGuest("");
      return answer.status === 200 ? answer : undefined;
    });

    expect(await page.text()).toBe("<h1>webdemo-pro</h1>\n");
    expect(page.headers.get("content-security-policy")).toMatch(/^sandbox /);
    expect((await fromGuest("not-there")).status).toBe(404);
    expect((await visitGuest(session.web_url.replace("/http/", "x/http/"))).status).toBe(404);
    expect(new URL(session.web_url).hostname).toBe("guests.localhost");
    expect((await fetch(service.ready().url + new URL(session.web_url).pathname)).status).toBe(404);
  });

  it("transfers megabytes to the machine and back", async () => {
    const body = Buffer.alloc(3 * 1024 * 1024, "0123456789abcdef\n");

    const answer = await fromGuest("cgi-bin/echo", { method: "POST", body });

    expect(answer.status).toBe(200);
    expect(Buffer.compare(Buffer.from(await answer.arrayBuffer()), body)).toBe(0);
  });

  it("reaches no host, service, session or internet address", async () => {
    let connections = 0;
    const open = createServer((socket) => {
      connections += 1;
      socket.end("hello");
    });
    const port = await listen(open);
    const own = listenersIn(sessionDir());
    const hosts = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
    const addresses = hosts.filter(({ family }) => family === "IPv4").map(({ address }) => address);
    const ports = [port, new URL(service.ready().url).port, session.server.vnc.port, "8080", "5900"];
    const targets = ["10.0.2.2", "10.0.2.3", ...addresses.filter((address) => !address.startsWith("127."))].flatMap(
      (address) => ports.map((each) => `${address}:${each}`),
    );

    const reported = await (await fromGuest(`cgi-bin/probe?${[...targets, "1.1.1.1:80"].join(",")}`)).text();
    open.close();

    expect(own).toEqual([]); // in its sandbox
    expect(reported).toContain("127.0.0.1:80 reached"); // the probe works
    expect(reported).toContain("default via 10.0.2.2");
    for (const target of [...targets, "1.1.1.1:80", "names", "ping"])
      expect(reported).toContain(`${target} not reached`);
    expect(connections).toBe(0);
  });

  it("is linked on its page, isolated from the service", async () => {
    const { href, title } = await inBrowser(session.url, async (page) => {
      const link = page.getByRole("link", { name: "Open its web page" });
      const href = await link.getAttribute("href");
      await page.goto(`${session.web_url}curious.html`);
      await page.waitForFunction(() => document.title !== "asking");
      return { href, title: await page.title() };
    });

    expect(href).toBe(session.web_url);
    const [origin, storage, cookie, account, stop, ownFile] = title.split(" | ");
    expect([origin, storage, cookie]).toEqual(["null", "SecurityError", "SecurityError"]);
    expect([account, stop]).toEqual(["TypeError", "TypeError"]);
    expect(ownFile).toBe("<h1>webdemo-pro</h1>");
  });

  it("has one screen for all of its viewers", async () => {
    const another = await until("a second viewer is connected", 60, () => watch());
    const before = (await another.frame()).digest;

    await viewer.type("hello");

    await until("both see what one has typed", 30, async () => {
      const [one, two] = await Promise.all([viewer.frame(), another.frame()]);
      return one.digest === two.digest && two.digest !== before;
    });
    another.close();
  });

  it("ends with its agent, whose build the next agent finishes", async () => {
    const first = service.ready().agent_pid;
    if (first === null) throw new Error("there is no agent");
    // Needs a root different from the first build's, so that it cannot use the root which that build left.
    await tux.call("POST", `/appliances/${applianceId}/cmd/add_package`, { name: "hello" });
    const buildId = await startBuild({ force: "true" });
    await until("KIWI is at work", 120, async () => {
      const { running_build: build } = await tux.call("GET", `/running_builds/${buildId}`);
      return build.state === "running" && /^(Downloading|Installing) software/.test(build.message);
    });
    const wire = await relayWire(`${session.url.replace(/^http/, "ws")}/socket`);

    process.kill(first, "SIGKILL");
    await wire.closed;

    const status = async () =>
      (await (await fetch(`${session.url}/state`)).json()) as { state: string; message: string };
    await until("the session has ended", 60, async () => (await status()).state === "ended");
    expect((await status()).message).toMatch(/^The builder agent that ran it /);
    expect((await fromGuest("")).status).toBe(410);
    await until("its machine is gone", 60, () => !existsSync(sessionDir()));

    expect(service.ready().agent_pid).not.toBe(first);
    const seen = await tux.watchBuild(buildId, 300);
    expect(seen.at(-1)).toMatchObject({ state: "finished", percent: 100 });
    expect(readFileSync("/proc/self/mounts", "utf8")).not.toContain(service.stateDir);
    expect(execFileSync("losetup", ["--list", "--output", "BACK-FILE"]).toString()).not.toContain(service.stateDir);
  });
});

const listen = (server: Server) =>
  new Promise<number>((resolve) => server.listen(0, "0.0.0.0", () => resolve((server.address() as AddressInfo).port)));
