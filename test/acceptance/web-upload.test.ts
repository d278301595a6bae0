import { createHash, randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { hostname } from "node:os";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startFtpServer, type FtpServer } from "./support/ftp-server.ts";
import { restClient, type RestClient } from "./support/rest.ts";
import { startService, type Service } from "./support/service.ts";

const large = randomBytes(30 * 2 ** 20);
const md5 = (bytes: Uint8Array) => createHash("md5").update(bytes).digest("hex");

let service: Service;
let tux: RestClient;
let applianceId: string;
/** Web servers on this machine. The operator has allowed one of them. */
let opened: { port: number; server: Server };
let secret: { port: number; server: Server; asked: string[] };
let ftp: FtpServer;
let oldFtp: FtpServer;
let secretFtp: FtpServer;

beforeAll(async () => {
  secret = { ...(await serving((_, answer) => answer.end("a secret"))), asked: [] };
  secret.server.prependListener("request", ({ url }) => secret.asked.push(url ?? ""));
  opened = await serving(openedServer);
  const files = { "pub/large.bin": large, "/etc/motd": Buffer.from("hello") };
  [ftp, oldFtp, secretFtp] = await Promise.all([
    startFtpServer(files),
    startFtpServer(files, { knowsEpsv: false }),
    startFtpServer(files),
  ]);
  const ports = [opened.port, ftp.port, oldFtp.port];
  service = await startService(["--no-agent", ...ports.flatMap((port) => ["--allow-host", `127.0.0.1:${port}`])]);
  tux = restClient(service.ready());
  applianceId = (await tux.call("POST", "/appliances", { clone_from: 1, arch: "x86_64" })).appliance.id;
});

afterAll(async () => {
  await service.stop();
  for (const { server } of [opened, secret]) server.close();
  for (const server of [ftp, oldFtp, secretFtp]) server.stop();
});

function openedServer({ url }: IncomingMessage, answer: ServerResponse): void {
  const to = (location: string) => answer.writeHead(302, { location }).end();
  if (url === "/large.bin") answer.end(large);
  else if (url === "/near") to("/large.bin");
  else if (url === "/inside") to(`http://127.0.0.1:${secret.port}/`);
  else if (url === "/name") to(`http://${hostname()}:${secret.port}/`);
  else if (url === "/cut") {
    answer.writeHead(200, { "content-length": "1000" }).write("only this");
    setTimeout(() => answer.destroy(), 100);
  } else answer.writeHead(404).end();
}

function serving(handler: (request: IncomingMessage, answer: ServerResponse) => void) {
  const server = createServer(handler);
  return new Promise<{ port: number; server: Server }>((resolve) =>
    server.listen(0, () => resolve({ server, port: (server.address() as AddressInfo).port })),
  );
}

const upload = (url: string) => tux.call("POST", "/files", { appliance_id: applianceId, url, filename: "file" });

/** The file as the service has stored it. */
async function stored(url: string): Promise<string> {
  const { file } = await upload(url);
  const { username, api_key: apiKey } = service.ready();
  const authorization = `Basic ${Buffer.from(`${username}:${apiKey}`).toString("base64")}`;
  const bytes = new Uint8Array(await (await fetch(file.download_url, { headers: { authorization } })).arrayBuffer());
  expect(file).toMatchObject({ size: String(bytes.byteLength), checksum: { "#text": md5(bytes) } });
  return md5(bytes);
}

describe("a web upload", () => {
  it("works over HTTP, through redirects too", async () => {
    expect(await stored(`http://127.0.0.1:${opened.port}/large.bin`)).toBe(md5(large));
    expect(await stored(`http://127.0.0.1:${opened.port}/near`)).toBe(md5(large));
  });

  it("works over FTP, with servers that support EPSV and others", async () => {
    expect(await stored(`ftp://127.0.0.1:${ftp.port}/pub/large.bin`)).toBe(md5(large));
    expect(await stored(`ftp://tux:pass@127.0.0.1:${oldFtp.port}/%2Fetc/motd`)).toBe(md5(Buffer.from("hello")));
    expect(ftp.commands.slice(0, 5)).toEqual(["USER anonymous", "PASS guest", "TYPE I", "EPSV", "RETR pub/large.bin"]);
    expect(oldFtp.commands.slice(0, 5)).toEqual(["USER tux", "PASS pass", "TYPE I", "EPSV", "PASV"]);
  });

  it("fails with a reason, and leaves nothing behind", async () => {
    const before = (await tux.call("GET", "/files", { appliance_id: applianceId })).files.file.length;
    await expect(upload(`http://127.0.0.1:${opened.port}/nothing`)).rejects.toThrow(/download_error.*answered 404/);
    await expect(upload(`http://127.0.0.1:${opened.port}/cut`)).rejects.toThrow(
      /download_error.*interrupted the download/,
    );
    await expect(upload(`ftp://127.0.0.1:${ftp.port}/nothing`)).rejects.toThrow(/download_error.*answered 550/);
    await expect(upload("http://no-such-host.invalid/a")).rejects.toThrow(/download_error.*cannot be reached/);
    await expect(upload("file:///etc/passwd")).rejects.toThrow(/invalid_protocol/);
    expect((await tux.call("GET", "/files", { appliance_id: applianceId })).files.file.length).toBe(before);
  });

  it("reaches nothing on this machine that the operator has not allowed", async () => {
    const name = hostname();
    // The name resolves to this machine, so the reason is not an unknown name.
    expect(await (await fetch(`http://${name}:${secret.port}/from-here`)).text()).toBe("a secret");
    const addresses = [
      `http://127.0.0.1:${secret.port}/`,
      `http://2130706433:${secret.port}/`,
      `http://0x7f.1:${secret.port}/`,
      `http://localhost:${secret.port}/`,
      `http://[::1]:${secret.port}/`,
      `http://[::ffff:127.0.0.1]:${secret.port}/`,
      `http://[::1]:${opened.port}/large.bin`,
      `http://${name}:${secret.port}/`,
      `http://${name}:${opened.port}/large.bin`,
      `http://127.0.0.1:${opened.port}/inside`,
      `http://127.0.0.1:${opened.port}/name`,
      `ftp://127.0.0.1:${secretFtp.port}/pub/large.bin`,
      `ftp://${name}:${ftp.port}/pub/large.bin`,
      service.ready().url,
    ];
    for (const address of addresses) await expect(upload(address), address).rejects.toThrow(/download_error/);
    expect(secret.asked).toEqual(["/from-here"]);
    expect(secretFtp.commands).toEqual([]);
  });
});
