import { describe, expect, it } from "vitest";
import { isPublicAddress } from "#lib/contract/index";

describe("an address of the public internet", () => {
  // The first and last address of each special network, and their public neighbours.
  it.each([
    ["0.0.0.0/8", "0.0.0.0", "0.255.255.255", ["1.0.0.0"]],
    ["10.0.0.0/8", "10.0.0.0", "10.255.255.255", ["9.255.255.255", "11.0.0.0"]],
    ["100.64.0.0/10", "100.64.0.0", "100.127.255.255", ["100.63.255.255", "100.128.0.0"]],
    ["127.0.0.0/8", "127.0.0.0", "127.255.255.255", ["126.255.255.255", "128.0.0.0"]],
    ["169.254.0.0/16", "169.254.0.0", "169.254.255.255", ["169.253.255.255", "169.255.0.0"]],
    ["172.16.0.0/12", "172.16.0.0", "172.31.255.255", ["172.15.255.255", "172.32.0.0"]],
    ["192.0.0.0/24", "192.0.0.0", "192.0.0.255", ["191.255.255.255", "192.0.1.0"]],
    ["192.0.2.0/24", "192.0.2.0", "192.0.2.255", ["192.0.1.255", "192.0.3.0"]],
    ["192.168.0.0/16", "192.168.0.0", "192.168.255.255", ["192.167.255.255", "192.169.0.0"]],
    ["198.18.0.0/15", "198.18.0.0", "198.19.255.255", ["198.17.255.255", "198.20.0.0"]],
    ["198.51.100.0/24", "198.51.100.0", "198.51.100.255", ["198.51.99.255", "198.51.101.0"]],
    ["203.0.113.0/24", "203.0.113.0", "203.0.113.255", ["203.0.112.255", "203.0.114.0"]],
    ["224.0.0.0/3", "224.0.0.0", "255.255.255.255", ["223.255.255.255"]],
    ["::/3", "::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ["2000::"]],
    ["2001::/32 (Teredo)", "2001::", "2001:0:ffff:ffff:ffff:ffff:ffff:ffff", ["2000:ffff::"]],
    ["2001:db8::/32", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", ["2001:db7::", "2001:db9::"]],
    ["2002::/16 (6to4)", "2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ["2001:ffff::", "2003::"]],
    ["4000::/2 and above", "4000::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", ["3ffe::"]],
  ])("is outside %s", (_, first, last, neighbours) => {
    expect([first, last].filter(isPublicAddress)).toEqual([]);
    expect(neighbours.filter((address) => !isPublicAddress(address))).toEqual([]);
  });

  it.each([
    ["64:ff9b::1", "NAT64"],
    ["64:ff9b:1::1", "local NAT64"],
    ["100::1", "discard"],
    ["5f00::1", "segment routing"],
    ["fc00::1", "unique local"],
    ["fe80::1", "link-local"],
    ["fec0::1", "site-local"],
    ["ff02::1", "multicast"],
    ["::ffff:192.168.0.1", "private IPv4"],
    ["::ffff:a00:1", "private IPv4"],
    ["nonsense", "not an address"],
    ["", "an empty string"],
  ])("is not %s (%s)", (address) => {
    expect(isPublicAddress(address)).toBe(false);
  });

  it.each(["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8"])("is %s", (address) => {
    expect(isPublicAddress(address)).toBe(true);
  });
});
