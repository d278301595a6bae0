import { describe, expect, it } from "vitest";
import { isReachable, parseRepositoryUrl } from "#domain/repositories/address";
import { baseSystemByIndex, type KnownBaseSystem } from "#domain/repositories/base-system";

const reachable = (url: string, ALLOW_HOSTS?: string) =>
  isReachable({ BASE_URL: "https://kiln.example.org/", ...(ALLOW_HOSTS ? { ALLOW_HOSTS } : {}) }, new URL(url));

const known = (url: string): KnownBaseSystem[] => [
  { name: "12.1", facts: { detection: { urls: [url], cpeIds: [], releaseCapabilities: [] } } as never },
];

const parse = (text: string) => parseRepositoryUrl({ BASE_URL: "https://kiln.example.org/" }, text);

describe("the address of a repository of deb", () => {
  it.each([
    ["deb http://deb.example.org/debian bookworm main", "http://deb.example.org/debian/dists/bookworm#main"],
    ["deb [arch=amd64 signed-by=/a.gpg]  http://a.org/d/ x/y main  contrib", "http://a.org/d/dists/x/y#main,contrib"],
    ["deb http://a.org/flat ./", "http://a.org/flat"],
    ["deb http://a.org/flat amd64/", "http://a.org/flat/amd64"],
    ["http://a.org/debian/dists/bookworm/#main", "http://a.org/debian/dists/bookworm#main"],
    ["http://a.org/debian/dists/bookworm/InRelease", "http://a.org/debian/dists/bookworm"],
  ])("of %s is %s", (text, url) => {
    expect(parse(text)).toBe(url);
  });

  it.each([
    "http://a.org/rpm#main",
    "http://a.org/dists/x#main,../a",
    "deb http://127.0.0.1/d x main",
    "deb-src http://a.org/d x main",
  ])("is not %s", (text) => {
    expect(() => parse(text)).toThrow();
  });
});

describe("an address to import from", () => {
  it.each([
    "http://localhost/",
    "http://mirror.localhost/",
    "http://printer.local/",
    "http://metadata.google.internal/",
    "http://127.0.0.1/",
    "http://127.1/",
    "http://2130706433/",
    "http://0x7f.0.0.1/",
    "http://0.0.0.0/",
    "http://10.1.2.3/",
    "http://100.64.0.1/",
    "http://169.254.169.254/latest/meta-data",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.1.1/",
    "http://192.0.2.1/",
    "http://198.18.0.1/",
    "http://224.0.0.1/",
    "http://255.255.255.255/",
    "http://[::1]/",
    "http://[::]/",
    "http://[::ffff:127.0.0.1]/",
    "http://[64:ff9b::7f00:1]/",
    "http://[fd00::1]/",
    "http://[fe80::1]/",
    "http://[ff02::1]/",
    "http://[2002:7f00:1::]/",
    "http://[2001:db8::1]/",
    "https://kiln.example.org/download/",
    "ftp://mirror.example.org/",
    "file:///etc/passwd",
  ])("is refused if it is %s", (url) => {
    expect(reachable(url)).toBe(false);
  });

  it.each([
    "http://mirror.example.org/",
    "https://93.184.216.34/",
    "http://172.32.0.1/",
    "http://100.128.0.1/",
    "http://192.0.1.1/",
    "http://11.0.0.1/",
    "http://[2606:4700::1111]/",
    "http://10.example.org/",
  ])("is accepted if it is %s", (url) => {
    expect(reachable(url)).toBe(true);
  });

  it.each([
    ["http://10.0.0.1/", "10.0.0.1", true],
    ["http://10.0.0.1:8080/", "10.0.0.1", true],
    ["http://10.0.0.1/", "10.0.0.1:80", true],
    ["https://mirror.lan/", "mirror.lan:443", true],
    ["http://[fd00::1]:81/", "10.0.0.1,[fd00:0:0::1]:81", true],
    ["http://[fd00::1]:81/", "[fd00::1]", true],
    ["http://10.0.0.1:080/", "10.0.0.1:80,mirror.lan", true],
    ["http://localhost/", ",", false],
    ["http://10.0.0.1.example.org/", "10.0.0.1", true],
    ["http://10.0.0.1/", "10.0.0.1.example.org", false],
    ["http://10.0.0.1:8080/", "10.0.0.1:80", false],
    ["http://10.0.0.2/", "10.0.0.1", false],
    ["file://10.0.0.1/etc/passwd", "10.0.0.1", false],
  ])("%s can be reached with ALLOW_HOSTS %s: %s", (url, opened, isFetched) => {
    expect(reachable(url, opened)).toBe(isFetched);
  });
});

describe("the normalized address of a repository", () => {
  it.each([
    ["http://Mirror.Example.org:80/a/", "http://mirror.example.org/a"],
    [" https://mirror.example.org/a/repodata/repomd.xml ", "https://mirror.example.org/a"],
    ["https://mirror.example.org/a/repodata/", "https://mirror.example.org/a"],
    ["http://mirror.example.org", "http://mirror.example.org"],
    ["http://mirror.example.org/a/../b:/c d", "http://mirror.example.org/b:/c%20d"],
  ])("is the same for each spelling: %s", (written, meant) => {
    expect(parseRepositoryUrl({ BASE_URL: "" }, written)).toBe(meant);
  });
});

describe("the base system of an address", () => {
  it.each([
    ["*/Halden_12.1/*", "http://mirror.example.org/perl/Halden_12.1", true],
    ["*/Halden_12.1/*", "http://mirror.example.org/Halden_12.1/x86_64", true],
    ["*/Halden_12.1/*", "http://mirror.example.org/Halden_12x1", false],
    ["http://mirror.example.org/12.1/*", "http://mirror.example.org/12.1", true],
    ["http://mirror.example.org/12.1/*", "http://evil.example.org/http://mirror.example.org/12.1", false],
    ["http://mirror.example.org/12.1/", "http://mirror.example.org/12.1", true],
    ["http://mirror.example.org/12.1/", "http://mirror.example.org/12.1/more", false],
    ["*a*a/", "http://a", false],
    ["*aa*a/", "http://aa", false],
  ])("matches %s with %s: %s", (pattern, url, fits) => {
    expect(baseSystemByIndex(known(pattern), { url, distributions: [] })).toBe(fits ? "12.1" : undefined);
  });
});
