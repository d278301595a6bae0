import { describe, expect, it, vi } from "vitest";
import { ftpDownload, ftpFileOf } from "../../src/lib/ftp/download.ts";
import { patienceMs } from "../support/patience.ts";
import { fakeFtp, type FtpBehaviour } from "../support/ftp.ts";

const address = "ftp://ftp.example.org/pub/motd";
const files = { "pub/motd": "hello" };

const read = async (url: string, { connectTo }: ReturnType<typeof fakeFtp>) => {
  const file = ftpFileOf(new URL(url));
  if (!file) throw new Error(`${url} names no file`);
  return await new Response(ftpDownload(file, connectTo)).text();
};

describe("a download by FTP", () => {
  it("logs in as anonymous and downloads in binary and passive mode", async () => {
    const server = fakeFtp(files);
    expect(await read(address, server)).toBe("hello");
    expect(server.commands.slice(0, 5)).toEqual(["USER anonymous", "PASS guest", "TYPE I", "EPSV", "RETR pub/motd"]);
    expect(server.ports).toEqual([21, 40_000]);
    await vi.waitFor(() => expect(server.commands.at(5)).toBe("QUIT"), patienceMs);
    await vi.waitFor(() => expect(server.closed()).toBe(2), patienceMs);
  });

  it("logs in with the credentials from the URL", async () => {
    const server = fakeFtp({ "/etc/my motd?.txt": "hello" });
    expect(await read("ftp://tux:p%40ss:word@ftp.example.org:2121/%2Fetc/my%20motd?.txt;type=i", server)).toBe("hello");
    expect(server.commands.slice(0, 2)).toEqual(["USER tux", "PASS p@ss:word"]);
    expect(server.ports[0]).toBe(2121);
  });

  it("falls back to PASV and ignores the host in its answer", async () => {
    const server = fakeFtp(files, { answers: { EPSV: "500 What?" } });
    expect(await read(address, server)).toBe("hello");
    expect(server.commands.slice(3, 6)).toEqual(["EPSV", "PASV", "RETR pub/motd"]);
    expect(server.ports).toEqual([21, 40_000]);
  });

  it("reads a greeting of several lines, and an empty file", async () => {
    expect(await read(address, fakeFtp(files, { greeting: "220-Good\r\n220-day\r\n220 to you" }))).toBe("hello");
    expect(await read(address, fakeFtp({ "pub/motd": "" }))).toBe("");
  });

  it.each<[string, FtpBehaviour, Record<string, string>, RegExp]>([
    ["the file does not exist", {}, {}, /^550/],
    ["the login is refused", { answers: { PASS: "530 No" } }, files, /^530/],
    ["the server is full", { greeting: "421 Too many" }, files, /^421/],
    ["the server supports no passive mode", { answers: { EPSV: "500 What?", PASV: "500 What?" } }, files, /500/],
    ["the port is invalid", { answers: { EPSV: "229 (|||x|)", PASV: "227 x" } }, files, /./],
    ["the transfer breaks off", { end: "426 Broken" }, files, /^426/],
    ["the server disconnects", { leaves: true }, files, /./],
    ["the server does not speak FTP", { greeting: "HTTP/1.1 400 Bad Request\r\n\r\n999" }, files, /./],
  ])("fails when %s", async (_, behaviour, served, reason) => {
    const server = fakeFtp(served, behaviour);
    await expect(read(address, server)).rejects.toThrow(reason);
    await vi.waitFor(() => expect(server.closed()).toBe(server.ports.length), patienceMs);
  });

  it("closes the connection when its reader cancels", async () => {
    const server = fakeFtp(files, { hangs: true });
    const file = ftpFileOf(new URL(address));
    if (!file) throw new Error("the URL names no file");
    const reader = ftpDownload(file, server.connectTo).getReader();
    expect(new TextDecoder().decode((await reader.read()).value)).toBe("hello");
    await reader.cancel();
    await vi.waitFor(() => expect(server.closed()).toBe(2), patienceMs);
  });
});

describe("ftpFileOf", () => {
  it.each([
    "ftp://ftp.example.org",
    "ftp://ftp.example.org/",
    "ftp://ftp.example.org/pub/",
    "ftp://ftp.example.org/a%0d%0aDELE%20b",
    "ftp://a%0a:b@ftp.example.org/a",
    "ftp://a:b%00@ftp.example.org/a",
    "ftp://ftp.example.org/%zz",
  ])("rejects %s", (url) => {
    expect(ftpFileOf(new URL(url))).toBeUndefined();
  });
});
