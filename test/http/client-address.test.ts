import { expect, it } from "vitest";
import { canonicalAddress, clientAddress } from "#http/client-address";

interface Row {
  peer?: string;
  forwarded?: string;
  proxies?: string;
  connecting?: string;
  mode?: string;
}

const ask = ({ peer, forwarded, proxies = "", connecting, mode = "embedded" }: Row) =>
  clientAddress(
    new Request("https://kiln.test/", {
      headers: {
        ...(forwarded !== undefined && { "x-forwarded-for": forwarded }),
        ...(connecting !== undefined && { "cf-connecting-ip": connecting }),
      },
      ...(peer !== undefined && { cf: { clientIp: peer } }),
    }),
    { MODE: mode, TRUSTED_PROXIES: proxies },
  );

it.each<[string, Row, string | undefined]>([
  ["comes from the socket", { peer: "192.0.2.1:5000" }, "192.0.2.1"],
  ["comes from an IPv6 socket", { peer: "[2001:db8::1]:5000" }, "2001:db8::1"],
  ["is IPv4 on a dual-stack socket", { peer: "[::ffff:192.0.2.1]:5000" }, "192.0.2.1"],
  ["is unknown without a socket address", { forwarded: "192.0.2.9" }, undefined],
  [
    "ignores the client's own header",
    { peer: "192.0.2.1:5", forwarded: "192.0.2.9", connecting: "192.0.2.8" },
    "192.0.2.1",
  ],
  [
    "comes from a trusted proxy's header",
    { peer: "10.0.0.1:5", forwarded: "192.0.2.9", proxies: "10.0.0.1" },
    "192.0.2.9",
  ],
  [
    "is the trusted proxy's entry, not an earlier one",
    { peer: "10.0.0.1:5", forwarded: "192.0.2.8, 192.0.2.9", proxies: "10.0.0.1" },
    "192.0.2.9",
  ],
  [
    "skips all trusted proxies",
    { peer: "[fd00::1]:5", forwarded: "192.0.2.8, [2001:db8::9]:70, 10.0.0.2", proxies: "10.0.0.2,FD00:0::1" },
    "2001:db8::9",
  ],
  ["is the proxy's own if it sends no header", { peer: "10.0.0.1:5", proxies: "10.0.0.1" }, "10.0.0.1"],
  [
    "is the proxy's own if its header is invalid",
    { peer: "10.0.0.1:5", forwarded: "192.0.2.8, unknown", proxies: "10.0.0.1" },
    "10.0.0.1",
  ],
  [
    "comes from Cloudflare's header on Cloudflare",
    { mode: "cloudflare", connecting: "192.0.2.9", peer: "10.0.0.1:5" },
    "192.0.2.9",
  ],
  [
    "ignores X-Forwarded-For on Cloudflare",
    { mode: "cloudflare", connecting: "192.0.2.9", forwarded: "192.0.2.8" },
    "192.0.2.9",
  ],
])("the address of a client %s", (_, row, expected) => {
  expect(ask(row)).toBe(expected);
});

it.each(["", "unknown", "1.2.3", "1.2.3.4.5", "999.1.1.1", "[::1", "::1::2", "1.2.3.4:x"])(
  "%j is not a valid address",
  (text) => {
    expect(canonicalAddress(text)).toBeUndefined();
  },
);
