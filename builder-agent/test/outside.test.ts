import { describe, expect, it } from "vitest";
import { checkOutside, isPrivate } from "../src/outside.ts";

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
    "http://127.0.0.1/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://localhost.example/",
    "http://[::1]/",
    "http://[::ffff:10.0.0.1]/",
    "http://169.254.169.254/latest/meta-data",
    "http://both.example/",
    "ftp://public.example/",
    "file:///etc/passwd",
    "dir:///etc",
    "not a url",
  ])("refuses %s", async (url) => {
    await expect(checkOutside(url, { allowHosts: [], resolve })).rejects.toThrow();
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
    await expect(checkOutside("http://10.0.0.1:82/", { allowHosts: ["10.0.0.1:81"], resolve })).rejects.toThrow(
      /private network/,
    );
  });
});

describe("a private address", () => {
  it.each([
    "0.0.0.0",
    "10.1.2.3",
    "100.64.0.1",
    "127.9.9.9",
    "172.31.0.1",
    "192.168.1.1",
    "224.0.0.1",
    "255.255.255.255",
  ])("is %s", (address) => {
    expect(isPrivate(address)).toBe(true);
  });

  it.each([
    "::",
    "::1",
    "fd00::1",
    "fe80::1",
    "ff02::1",
    "64:ff9b::a00:1",
    "2002:a00:1::",
    "::ffff:192.168.0.1",
    "nonsense",
  ])("is %s", (address) => {
    expect(isPrivate(address)).toBe(true);
  });

  it.each(["8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "::ffff:8.8.8.8"])("is not %s", (address) => {
    expect(isPrivate(address)).toBe(false);
  });
});
