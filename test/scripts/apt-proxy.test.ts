import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { aptProxyOf } from "../../scripts/launch/apt-proxy.ts";

const archive = { host: "deb.example.org", port: 80 };
const security = { host: "fd00::2", port: 8080 };
const secure = { host: "tls.example.org", port: 443 };
const folder = mkdtempSync(join(tmpdir(), "kiln-apt-"));
let warned = "";

beforeEach(() => {
  warned = "";
  vi.spyOn(process.stderr, "write").mockImplementation((line) => ((warned += String(line)), true));
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  rmSync(join(folder, "apt.conf"), { force: true });
});

/** Queries this machine's own apt, with these lines in its configuration. */
function proxyWith(...lines: string[]) {
  const file = join(folder, "apt.conf");
  writeFileSync(file, lines.map((line) => `${line};\n`).join(""));
  vi.stubEnv("APT_CONFIG", file);
  return aptProxyOf([archive, security, secure], new AbortController().signal);
}

describe("aptProxyOf", () => {
  it("is the proxy of all hosts that are asked by http", async () => {
    expect(await proxyWith('Acquire::http::Proxy "http://proxy.lan:3142/"')).toEqual({
      address: "proxy.lan:3142",
      hosts: ["deb.example.org:80", "[fd00::2]:8080"],
    });
  });

  it("is the proxy of single hosts, and leaves out those that apt asks directly", async () => {
    const own = await proxyWith('Acquire::http::Proxy::deb.example.org "http://proxy.lan"');
    expect(own).toEqual({ address: "proxy.lan:80", hosts: ["deb.example.org:80"] });
    const direct = ['Acquire::http::Proxy "http://proxy.lan:8080"', 'Acquire::http::Proxy::fd00::2 "DIRECT"'];
    expect(await proxyWith(...direct)).toMatchObject({ address: "proxy.lan:8080" });
    const none = ['Acquire::http::Proxy "http://proxy.lan"', 'Acquire::http::Proxy::deb.example.org "DIRECT"'];
    expect((await proxyWith(...none))?.hosts).not.toContain("deb.example.org:80");
  });

  it("is none if apt has none, and says so if it cannot be used", async () => {
    expect(await proxyWith('Acquire::http::Pipeline-Depth "0"')).toBeUndefined();
    expect(warned).toBe("");
    expect(await proxyWith('Acquire::http::Proxy "http://me:secret@proxy.lan:3142"')).toBeUndefined();
    expect(warned).toContain("! Kiln cannot use apt's proxy");
    expect(warned).not.toContain("secret");
  });

  it("is one of several, and the hosts of the others are asked directly", async () => {
    const several = ['Acquire::http::Proxy "http://a.lan:1"', 'Acquire::http::Proxy::deb.example.org "http://b.lan:2"'];
    expect(await proxyWith(...several)).toEqual({ address: "b.lan:2", hosts: ["deb.example.org:80"] });
    expect(warned).toContain("apt uses several proxies. Kiln uses b.lan:2, and none for [fd00::2]:8080.");
  });
});
