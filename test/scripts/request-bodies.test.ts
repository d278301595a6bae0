import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { ownPort } from "../../builder-agent/test/support/ports.ts";
import { adminClient } from "../../scripts/admin/client.ts";
import { bundleWorker } from "../../scripts/launch/bundle.ts";
import { startEmbedded } from "../../scripts/launch/embedded.ts";
import { readOrMakeSecrets } from "../../scripts/launch/secrets.ts";

/**
 * Bodies over real connections, because only there can a client be slow, leave, or lose the answer when the service
 * closes.
 */

const folder = mkdtempSync(join(tmpdir(), "kiln-bodies-"));
const secrets = readOrMakeSecrets(folder);
const port = ownPort(1);
const sockets: Socket[] = [];
let service: Awaited<ReturnType<typeof startEmbedded>>;
let basic: string;

beforeAll(async () => {
  const bindings = { ...secrets, BODY_SECONDS: "1", MAX_UPLOAD_MB: "8" };
  const place = { host: "127.0.0.1", port, stateDirectory: folder };
  service = await startEmbedded({ bundle: await bundleWorker(), ...place, bindings, outsideCidrs: [] });
  const admin = adminClient(`http://127.0.0.1:${port}`, secrets.ADMIN_SECRET);
  const { username, apiKey } = await admin.addAccount({ username: "tux", email: "tux@example.org" });
  basic = `Authorization: Basic ${Buffer.from(`${username}:${apiKey}`).toString("base64")}`;
});

afterEach(() => {
  for (const socket of sockets.splice(0)) socket.destroy();
});

afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Sends the head of a request, and the beginning of its body. */
async function begin(line: string, headers: string[], body: string | Buffer = ""): Promise<Socket> {
  const socket = connect(port, "127.0.0.1");
  sockets.push(socket);
  socket.on("error", () => {}); // a reset also closes the connection
  await once(socket, "connect");
  socket.write([`${line} HTTP/1.1`, "Host: kiln.test", ...headers, "", ""].join("\r\n"));
  if (body.length > 0) socket.write(body);
  return socket;
}

/** Everything that arrives until the service closes the connection. */
const untilClosed = (socket: Socket): Promise<string> => text(socket).catch(() => "reset");
const operator = `Authorization: Bearer ${secrets.ADMIN_SECRET}`;
const agent = `Authorization: Bearer ${secrets.AGENT_TOKEN}`;
const mib = 2 ** 20;
const long = `Content-Length: ${4 * mib}`;
const form = "Content-Type: application/x-www-form-urlencoded";
const octets = "Content-Type: application/octet-stream";
const xml = "Content-Type: application/xml";

describe("a body of which a byte comes now and then", () => {
  it.each([
    ["POST /api/v2/user/appliances", () => [basic, form]],
    ["POST /api/v2/user/rpms?base_system=none", () => [basic]],
    ["PUT /api/v2/user/appliances/1/configuration", () => [basic, xml]],
    ["PUT /api/v2/user/appliances/1/configuration", () => [basic, xml, "Transfer-Encoding: chunked"]],
    ["POST /api/v2/user/appliances", () => [form]],
    ["POST /nothing", () => [basic]],
    ["GET /api/v2/user/builds", () => [basic, form]],
    ["POST /admin/accounts", () => [operator]],
    ["PUT /admin/repositories/tiny/main/x", () => [operator]],
    ["POST /agent/hello", () => [agent]],
    ["POST /testdrives/1/x/http/", () => []],
  ])("is ended: %s", async (line, headersOf) => {
    const headers = headersOf();
    const isChunked = headers.some((each) => each.startsWith("Transfer-Encoding"));
    const socket = await begin(line, isChunked ? headers : [...headers, long]);
    const drip = setInterval(() => socket.write(isChunked ? "1\r\nx\r\n" : "x"), 100);

    const answer = await untilClosed(socket);
    clearInterval(drip);

    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d |^reset$/);
  });
});

describe("a body that the answer does not need", () => {
  it.each([
    ["of any refusal", "404", "POST /api/v2/user/nothing", () => [basic], mib - 10],
    ["sent before signing in", "401", "POST /api/v2/user/nothing", () => [], 8 * mib],
    ["of a success", "200", "POST /api/v2/user/tokens?name=a&scope=read", () => [basic, octets], 8 * mib],
    ["of an agent", "400", "PUT /agent/builds/1/artifacts/image/parts/1", () => [agent], 16 * mib],
  ] as const)("leaves the connection usable: %s", async (...[, status, line, headersOf, size]) => {
    const socket = await begin(line, [...headersOf(), `Content-Length: ${size}`]);
    socket.write(Buffer.alloc(size, "x"));
    const [first] = await once(socket, "data");
    socket.write(`GET /api/v2/user/account HTTP/1.1\r\nHost: x\r\n${basic}\r\nConnection: close\r\n\r\n`);

    expect(String(first).slice(0, 12)).toBe(`HTTP/1.1 ${status}`);
    expect(await untilClosed(socket)).toContain("HTTP/1.1 200 OK");
  });

  it("may come with GET", async () => {
    const body = "appliance_id=7";
    const headers = [basic, form, `Content-Length: ${body.length}`, "Connection: close"];

    const answer = await untilClosed(await begin("GET /api/v2/user/builds", headers, body));

    expect(answer).toMatch(/^HTTP\/1\.1 400 [\s\S]*<code>missing_appliance_id</);
  });

  it("is not read on for long", async () => {
    const socket = await begin("POST /api/v2/user/nothing", [basic, "Transfer-Encoding: chunked"]);
    const next = () => new Promise((resolve) => socket.once("drain", resolve).once("close", resolve));
    const chunk = Buffer.concat([Buffer.from("10000\r\n"), Buffer.alloc(0x10000, "x"), Buffer.from("\r\n")]);
    let sent = 0;
    while (!socket.destroyed && sent < 64 * mib) {
      if (!socket.write(chunk)) await next();
      sent += chunk.length;
    }

    // The service does not read the data that is in the buffers of the two kernels.
    expect(sent).toBeLessThan(32 * mib);
  });
});

describe("a client that goes away", () => {
  const large = Buffer.alloc(mib, "x");

  it("is no failure of the service, neither in its request nor in the answer", async () => {
    const before = readFileSync(join(folder, "worker.log"), "utf8").length;
    await adminClient(`http://127.0.0.1:${port}`, secrets.ADMIN_SECRET).putRepositoryFile(
      "tiny/main/large",
      Buffer.alloc(6 * mib, "x"),
    );
    for (const leave of ["end", "destroy", "resetAndDestroy"] as const) {
      for (const [line, headers, body] of [
        ["POST /api/v2/user/appliances", [basic, form, long], "clone_from=1"],
        ["PUT /api/v2/user/appliances/1/configuration", [basic, xml, long], "<configuration>"],
        ["POST /api/v2/user/rpms?base_system=none", [basic, long], large],
        ["POST /admin/accounts", [operator, long], "{"],
        ["PUT /admin/repositories/tiny/main/x", [operator, long], large],
        ["POST /agent/hello", [agent, long], "{"],
        ["GET /repositories/tiny/main/large", [], ""],
        ["GET /api/openapi.json", [], ""],
        ["GET /api/v2/user/events", [basic, "Accept: text/event-stream"], ""],
      ] as const) {
        const socket = await begin(line, [...headers], body);
        await sleep(50);
        socket[leave]();
      }
    }
    await vi.waitFor(async () => {
      const socket = await begin("GET /api/v2/user/account", [basic, "Connection: close"]);
      expect(await untilClosed(socket)).toContain("HTTP/1.1 200 OK");
    }, 10_000);
    await sleep(500);

    expect(readFileSync(join(folder, "worker.log"), "utf8").slice(before)).toBe("");
  });
});
