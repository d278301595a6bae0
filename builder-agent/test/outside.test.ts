import { describe, expect, it } from "vitest";
import { checkOutside, isPrivate, OutsideRefused } from "../src/outside.ts";

const resolve = async (host: string) =>
  ({ "public.example": ["93.184.216.34"], "both.example": ["93.184.216.34", "10.0.0.1"] })[host] ?? [];

describe("checkOutside", () => {
  it.each(["http://public.example/tiny", "https://public.example:8443/", "http://93.184.216.34/"])(
    "lets %s pass",
    async (url) => {
      await expect(checkOutside(url, { allowHosts: [], resolve })).resolves.toBeInstanceOf(URL);
    },
  );

  it.each([
    ["http://127.0.0.1/", "127.0.0.1"],
    ["http://2130706433/", "127.0.0.1"],
    ["http://0x7f.1/", "127.0.0.1"],
    ["https://[::1]:8443/", "[::1]:8443"],
    ["http://[::ffff:10.0.0.1]/", "[::ffff:a00:1]"],
    ["http://169.254.169.254/latest/meta-data", "169.254.169.254"],
    ["http://both.example/", "both.example"],
  ])("refuses %s as private", async (url, host) => {
    await expect(checkOutside(url, { allowHosts: [], resolve })).rejects.toEqual(
      new OutsideRefused(`${host} is an address inside a private network.`),
    );
  });

  it.each([
    ["http://localhost.example/", "The host localhost.example is unknown."],
    ["ftp://public.example/", "ftp addresses are not fetched, only http and https."],
    ["file:///etc/passwd", "file addresses are not fetched, only http and https."],
    ["dir:///etc", "dir addresses are not fetched, only http and https."],
    ["not a url", '"not a url" is not a url.'],
  ])("refuses %s: %s", async (url, reason) => {
    await expect(checkOutside(url, { allowHosts: [], resolve })).rejects.toEqual(new OutsideRefused(reason));
  });

  it("refuses a name whose lookup fails", async () => {
    const rules = { allowHosts: [], resolve: () => Promise.reject(new Error("SERVFAIL")) };
    await expect(checkOutside("http://a.example/", rules)).rejects.toEqual(
      new OutsideRefused("The host a.example is unknown."),
    );
  });

  it.each([
    ["http://mirror.lan/", ["mirror.lan"]],
    ["http://mirror.lan:8080/", ["mirror.lan"]],
    ["https://mirror.lan/", ["mirror.lan:443"]],
    ["http://10.0.0.1:81/", ["10.0.0.1:81"]],
    ["http://[::1]:81/", ["[::1]:81"]],
  ])("lets %s pass when the operator allows %s", async (url, allowHosts) => {
    await expect(checkOutside(url, { allowHosts, resolve })).resolves.toBeInstanceOf(URL);
  });

  it("holds an allowed host to its port", async () => {
    await expect(checkOutside("http://10.0.0.1:82/", { allowHosts: ["10.0.0.1:81"], resolve })).rejects.toEqual(
      new OutsideRefused("10.0.0.1:82 is an address inside a private network."),
    );
  });
});

describe("a private network", () => {
  // Its first and its last address, and their neighbours that are not private.
  it.each([
    ["0.0.0.0/8", "0.0.0.0", "0.255.255.255", [undefined, "1.0.0.0"]],
    ["10.0.0.0/8", "10.0.0.0", "10.255.255.255", ["9.255.255.255", "11.0.0.0"]],
    ["100.64.0.0/10", "100.64.0.0", "100.127.255.255", ["100.63.255.255", "100.128.0.0"]],
    ["127.0.0.0/8", "127.0.0.0", "127.255.255.255", ["126.255.255.255", "128.0.0.0"]],
    ["169.254.0.0/16", "169.254.0.0", "169.254.255.255", ["169.253.255.255", "169.255.0.0"]],
    ["172.16.0.0/12", "172.16.0.0", "172.31.255.255", ["172.15.255.255", "172.32.0.0"]],
    ["192.0.0.0/24", "192.0.0.0", "192.0.0.255", ["191.255.255.255", "192.0.1.0"]],
    ["192.168.0.0/16", "192.168.0.0", "192.168.255.255", ["192.167.255.255", "192.169.0.0"]],
    ["198.18.0.0/15", "198.18.0.0", "198.19.255.255", ["198.17.255.255", "198.20.0.0"]],
    ["224.0.0.0/4 and 240.0.0.0/4", "224.0.0.0", "255.255.255.255", ["223.255.255.255", undefined]],
    ["240.0.0.0/4", "240.0.0.0", "255.255.255.254", [undefined, undefined]],
    ["::/127", "::", "::1", [undefined, "::2"]],
    ["64:ff9b::/96", "64:ff9b::", "64:ff9b::ffff:ffff", ["64:ff9a:ffff::", "64:ff9b:0:0:0:1::"]],
    ["64:ff9b:1::/48", "64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", ["64:ff9b:0:ffff::", "64:ff9b:2::"]],
    ["2002::/16", "2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ["2001:ffff::", "2003::"]],
    ["fc00::/7", "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ["fbff::", "fe00::"]],
    ["fe80::/10", "fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ["fe7f::", "fec0::"]],
    ["ff00::/8", "ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ["feff::", undefined]],
  ])("is %s, and no more", (_, first, last, neighbours) => {
    expect([first, last].map(isPrivate)).toEqual([true, true]);
    for (const address of neighbours)
      if (address !== undefined) expect([address, isPrivate(address)]).toEqual([address, false]);
  });

  it.each(["::ffff:192.168.0.1", "::ffff:a00:1", "nonsense", ""])("is taken for one: %s", (address) => {
    expect(isPrivate(address)).toBe(true);
  });

  it.each(["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8"])("is not %s", (address) => {
    expect(isPrivate(address)).toBe(false);
  });
});
