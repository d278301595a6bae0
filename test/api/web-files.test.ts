import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { signedIn, type Client } from "../support/client.ts";
import { createAppliance } from "../support/factories.ts";
import { contentCount, send, template } from "../support/files.ts";
import { fakeFtp } from "../support/ftp.ts";
import { expectError, readXml } from "../support/xml.ts";

const url = "http://files.example.org/conf/counter%20d.conf";

let tux: Client;
let applianceId: number;
beforeEach(async () => {
  tux = await signedIn();
  applianceId = await createAppliance(tux);
});
afterEach(() => void vi.restoreAllMocks());

/** The only network of the test. */
const web = (answer: () => Response) => vi.spyOn(globalThis, "fetch").mockImplementation(async () => answer());
const listed = async () => (await readXml(await tux.get(`/files?appliance_id=${applianceId}`))).files.file;
const add = (params: Record<string, string | number>) => tux.post("/files", { appliance_id: applianceId, ...params });

describe("POST /files with a url", () => {
  it("downloads the file and returns its metadata", async () => {
    const asked = web(() => new Response("hello"));

    const { file } = await readXml(await add({ url, path: "/etc", permissions: "0600" }));

    expect(file).toMatchObject({ filename: "counter d.conf", path: "/etc", permissions: "600", size: "5" });
    expect(await (await tux.get(`/files/${file.id}/data`)).text()).toBe("hello");
    expect(asked).toHaveBeenCalledTimes(1);
    expect(await listed()).toEqual(file);
  });

  it("accepts all parameters in a form", async () => {
    web(() => new Response("hello"));
    const fields = { appliance_id: String(applianceId), url, filename: "motd", enabled: "0", path: "" };
    const multipart = new FormData();
    for (const [name, value] of Object.entries(fields)) multipart.append(name, value);
    for (const body of [new URLSearchParams(fields), multipart]) {
      const { file } = await readXml(await send(tux, body, { path: "/files?url=" }));
      expect(file).toMatchObject({ filename: "motd", enabled: "false", path: "/", size: "5" });
    }
  });

  it("accepts all parameters in a JSON object, and no other JSON", async () => {
    web(() => new Response("hello"));
    const headers = { "content-type": "application/json" };
    const fields = { appliance_id: applianceId, url, filename: "motd", enabled: false };
    const { file } = await readXml(await send(tux, JSON.stringify(fields), { path: "/files", headers }));
    expect(file).toMatchObject({ filename: "motd", enabled: "false", size: "5" });

    const path = `/files?appliance_id=${applianceId}&filename=settings.json`;
    for (const body of ['{"url": "x", "colour": "red"}', "{}", "[1]", "{"]) {
      const stored = await readXml(await send(tux, body, { path, headers }));
      expect(stored.file).toMatchObject({ filename: "settings.json", size: String(body.length) });
    }
  });

  it("downloads by FTP", async () => {
    const server = fakeFtp({ "pub/motd": "hello" });
    const OUTSIDE = { connect: ({ port }: SocketAddress) => server.connectTo(port) };
    const path = `/files?appliance_id=${applianceId}&url=ftp://ftp.example.org/pub/motd`;
    const { file } = await readXml(await send(tux, null, { path, settings: { OUTSIDE } }));
    expect(file).toMatchObject({ filename: "motd", size: "5" });
  });

  it.each<[string, Record<string, string>, string]>([
    ["another protocol", { url: "file:///etc/passwd" }, "invalid_protocol"],
    ["no protocol", { url: "files.example.org/motd" }, "invalid_protocol"],
    ["an invalid URL", { url: "http://[::g]/" }, "invalid_value"],
    ["a URL without a file name", { url: "http://files.example.org/" }, "missing_parameter"],
    ["an invalid file name", { url: "http://files.example.org/a%2Fb%00" }, "invalid_value"],
    ["invalid metadata", { url, permissions: "999" }, "invalid_value"],
    ["an address in a private network", { url: "http://192.168.0.1/motd" }, "download_error"],
    ["the machine itself", { url: "http://2130706433:8787/motd" }, "download_error"],
  ])("refuses %s before any download", async (_, params, code) => {
    const asked = web(() => new Response("hello"));
    await expectError(await add(params), 400, code);
    expect(asked).not.toHaveBeenCalled();
    expect(await listed()).toBeUndefined();
  });

  it("refuses a template and an unknown appliance before any download", async () => {
    const asked = web(() => new Response("hello"));
    await expectError(await add({ appliance_id: template, url }), 403, "access_denied");
    await expectError(await add({ appliance_id: 999_999, url }), 400, "invalid_appliance_id");
    await expectError(await tux.post("/files", { url }), 400, "missing_appliance_id");
    expect(asked).not.toHaveBeenCalled();
  });

  it.each<[string, () => Response, RegExp]>([
    ["does not exist", () => new Response("no", { status: 404 }), /files\.example\.org answered 404/],
    [
      "redirects to a private address",
      () => Response.redirect("http://10.0.0.1/", 302),
      /must not connect to http:\/\/10\.0\.0\.1/,
    ],
    ["is too large", () => new Response(new Uint8Array(2 ** 20 + 1)), /up to 1 MiB/],
    ["is announced to be too large", () => announcing("2000000000"), /up to 1 MiB/],
    ["breaks off", () => new Response(brokenBody()), /interrupted the download/],
  ])("stores nothing of a file that %s, and says why", async (_, answer, message) => {
    const before = await contentCount();
    web(answer);
    const path = `/files?appliance_id=${applianceId}&url=${url}`;
    const refused = await send(tux, null, { path, settings: { MAX_UPLOAD_MB: "1" } });
    expect(await expectError(refused, 400, "download_error")).toMatch(message);
    expect(await listed()).toBeUndefined();
    expect(await contentCount()).toBe(before);
  });

  it("enforces the disk quota", async () => {
    const before = await contentCount();
    web(() => new Response(new Uint8Array(3001)));
    const path = `/files?appliance_id=${applianceId}&url=${url}`;
    const refused = await send(tux, null, { path, settings: { ACCOUNT_QUOTA_GB: String(3000 / 2 ** 30) } });
    expect(await expectError(refused, 400, "unknown_error")).toMatch(/quota/);
    expect(await contentCount()).toBe(before);
  });
});

function brokenBody(): ReadableStream<Uint8Array> {
  let pulls = 0;
  return new ReadableStream({
    type: "bytes",
    pull(controller) {
      if (pulls++ === 0) controller.enqueue(new Uint8Array(1000));
      else controller.error(new Error("Network connection lost."));
    },
  });
}

/** An answer with a body that never arrives. */
const announcing = (length: string) =>
  new Response(new ReadableStream({ type: "bytes", pull: () => new Promise(() => {}) }), {
    headers: { "content-length": length },
  });
