import { once } from "node:events";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { listenersOf } from "../../builder-agent/test/support/listeners.ts";
import { asNobody } from "../../builder-agent/test/support/nobody.ts";
import { ownPort } from "../../builder-agent/test/support/ports.ts";
import { httpProxy } from "../../builder-agent/test/support/http-proxy.ts";
import { startEmbedded } from "../../scripts/launch/embedded.ts";
import { descendants, signalAll } from "../../scripts/launch/process-tree.ts";
import { tinyBundle } from "./tiny-service.ts";
import { patienceMs } from "../support/patience.ts";

const Answer = z.object({
  crons: z.array(z.string()),
  pathname: z.string(),
  tables: z.number(),
  from: z.string().optional(),
});

const storagePaths = [
  "/cdn-cgi/local/r2/public/kiln/builds/2/image-1",
  "/cdn-cgi/local/r2/s3/kiln/builds/2/image-1",
  "/cdn-cgi/local/explorer/api/r2/buckets/kiln/objects",
  "/cdn-cgi/local/platform-proxy",
  "/cdn-cgi/local/scheduled",
  "/json/list",
];
const folder = mkdtempSync(join(tmpdir(), "kiln-embedded-"));
const port = ownPort(0);
let service: Awaited<ReturnType<typeof startEmbedded>>;
let proxy: Awaited<ReturnType<typeof httpProxy>>;
let output = "";

beforeAll(async () => {
  mkdirSync(join(folder, "temporary/miniflare-of-a-killed-launcher/do"), { recursive: true });
  proxy = await httpProxy({ "mirror.invalid:8080": port });
  vi.spyOn(process.stderr, "write").mockImplementation((line) => ((output += String(line)), true));
  service = await startEmbedded({
    bundle: tinyBundle(folder),
    modulesFolder: folder,
    host: "127.0.0.1",
    port,
    stateDirectory: folder,
    bindings: {},
    outsideCidrs: [],
    catalogueProxy: `127.0.0.1:${proxy.port}`,
    cronEveryMs: 50,
  });
});

afterAll(async () => {
  await service.stop();
  proxy[Symbol.dispose]();
  vi.restoreAllMocks();
  rmSync(folder, { recursive: true, force: true });
});

const ask = async (path = "/") => Answer.parse(await (await fetch(`http://127.0.0.1:${port}${path}`)).json());
const log = () => readFileSync(join(folder, "worker.log"), "utf8");
const answered = () => vi.waitFor(() => ask(), { timeout: patienceMs, interval: 50 });
const ticked = () =>
  vi.waitFor(async () => expect((await ask()).crons.length).toBeGreaterThan(2), { timeout: patienceMs });
const runtimes = () => descendants(process.pid).filter((pid) => /^[^\0]*workerd\0serve\0/.test(commandLine(pid)));

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return ""; // ended
  }
}

const headers = (count: number) => Array.from({ length: count }, (_, at) => `X-Header-${at}: value\r\n`).join("");

/** The first line of the answer to a request that fetch would refuse to send. */
async function answerTo(request: string): Promise<string> {
  const socket = connect(port, "127.0.0.1");
  socket.write(request);
  const [first] = await once(socket, "data");
  socket.destroy();
  return String(first).split("\r\n")[0] ?? "";
}

describe("the embedded service", () => {
  it("has its tables, and cron calls it immediately and then repeatedly", async () => {
    expect(await ask()).toMatchObject({ pathname: "/", tables: 1 });
    await ticked();
  });

  it("has its temporary files in the state directory, without those of a killed launcher", () => {
    expect(readdirSync(join(folder, "temporary"))).toEqual([expect.stringMatching(/^miniflare-[0-9a-f]{32}$/)]);
  });

  it("offers other users of the machine only its own routes", async () => {
    await fetch(`http://127.0.0.1:${port}/builds/2/image-1`, { method: "PUT", body: "secret" });
    const listeners = listenersOf([process.pid, ...runtimes()]);
    expect(listeners).toContain(`127.0.0.1:${port}`);
    for (const address of listeners.filter((one) => !one.endsWith(`:${proxy.port}`))) {
      for (const path of storagePaths) {
        const answer = await asNobody(`http://${address}${path}`);
        if (address.endsWith(`:${port}`)) expect(answer).toContain(`"pathname":"${path}"`);
        else expect(answer).toMatch(/ (403|404)$/);
        expect(answer).not.toContain("secret");
      }
    }
    const socket = join(folder, "run/control.sock");
    expect(statSync(socket).isSocket()).toBe(true);
    expect(
      await asNobody("--unix-socket", socket, "http://localhost/cdn-cgi/local/r2/public/kiln/builds/2/image-1"),
    ).toBe(" 000");
  });

  it("knows a client's address, and does not let clients fake it", async () => {
    const forged = { "MF-CF-Blob": '{"clientIp":"6.6.6.6"}', "CF-Connecting-IP": "6.6.6.6" };
    const { from } = Answer.parse(await (await fetch(`http://127.0.0.1:${port}/`, { headers: forged })).json());
    expect(from).toMatch(/^127\.0\.0\.1:\d+$/);
  });

  it("reaches through the proxy what only the proxy knows", async () => {
    const url = "http://mirror.invalid:8080/dists/stable/InRelease";
    const answer = await fetch(`http://127.0.0.1:${port}/?url=${url}`);
    expect(await answer.json()).toMatchObject({ pathname: "/dists/stable/InRelease" });
    expect(proxy.asked).toEqual([url]);
  });

  it.each([
    ["two Hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400],
    ["a space in Host", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400],
    ["a Host that fetch refuses", "GET / HTTP/1.1\r\nHost: a%61\r\n\r\n", 400],
    ["half an IPv6 address", "GET / HTTP/1.1\r\nHost: [\r\n\r\n", 400],
    ["a port that does not exist", "GET / HTTP/1.1\r\nHost: a:999999\r\n\r\n", 400],
    ["OPTIONS *", "OPTIONS * HTTP/1.1\r\nHost: a:80\r\n\r\n", 400],
    ["GET *", "GET * HTTP/1.1\r\nHost: a\r\n\r\n", 400],
    ["no Host", "GET / HTTP/1.1\r\n\r\n", 400],
    ["2,000 headers", `GET / HTTP/1.1\r\nHost: a\r\n${headers(2_000)}\r\n`, 431],
  ])("refuses a malformed request, and logs nothing: %s", async (_, request, status) => {
    const before = { bytes: log().length, output };

    expect(await answerTo(request)).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));

    await ask();
    expect(log().slice(before.bytes)).toBe("");
    expect(output).toBe(before.output);
  });

  it.each([
    ["a name", "Host: kiln_1.example-2.org\r\n"],
    ["an IPv6 address", "Host: [::1]:80\r\n"],
    ["500 headers", `Host: a\r\n${headers(500)}`],
  ])("answers a request with %s", async (_, lines) => {
    expect(await answerTo(`GET / HTTP/1.1\r\n${lines}\r\n`)).toBe("HTTP/1.1 200 OK");
  });

  it.each([
    ["a CONNECT", "CONNECT a:22 HTTP/1.1\r\nHost: a:22\r\n\r\n", "malformed request"],
    ["a name that no one knows", "GET /?by=OUTSIDE&to=http://x.invalid/ HTTP/1.1\r\nHost: a\r\n\r\n", "unknown host"],
  ])("does not report as its own failure %s", async (_, request, cause) => {
    const before = { bytes: log().length, output };

    expect(await answerTo(request)).toMatch(/^HTTP\/1\.1 [45]\d\d /);
    await vi.waitFor(() => expect(log().slice(before.bytes)).toContain(`log ${cause}: `), patienceMs);

    expect(log().slice(before.bytes)).not.toMatch(/Z error /);
    expect(output).toBe(before.output);
    await ask();
  });

  it("does not speak workerd's own protocol to clients", async () => {
    const host = "miniflare-unsafe-internal-capnp-connect";
    expect(await answerTo(`CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 [45]\d\d /);
  });

  it("answers and ticks again after each kill of workerd", async () => {
    for (let kills = 0; kills < 3; kills++) {
      const before = runtimes();
      expect(before).toHaveLength(1);
      signalAll(before, "SIGKILL");
      await vi.waitFor(() => expect(runtimes()).not.toEqual(before), patienceMs);
      await answered();
      await ticked();
    }
    expect(output).toContain("! The service (workerd) ended unexpectedly. It is running again.\n");
    const { crons } = await ask();
    expect([crons[0], new Set(crons.slice(1))]).toEqual(["start", new Set(["* * * * *"])]);
  });

  it("recovers after workerd could not start for a while", async () => {
    output = "";
    while (!output.includes("cannot start")) {
      signalAll(runtimes(), "SIGKILL");
      await sleep(5);
    }
    await answered();
    await ticked();
    expect(output).toMatch(/! The service is down: workerd cannot start\. Retrying in 1 s. See \S+worker\.log\.\n/);
    expect(output).toMatch(/! The service is running again\.\n$/);
  });
});
