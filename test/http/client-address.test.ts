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
  ["is the socket's", { peer: "192.0.2.1:5000" }, "192.0.2.1"],
  ["is the socket's with IPv6", { peer: "[2001:db8::1]:5000" }, "2001:db8::1"],
  ["is IPv4 on a socket for both", { peer: "[::ffff:192.0.2.1]:5000" }, "192.0.2.1"],
  ["is unknown without one", { forwarded: "192.0.2.9" }, undefined],
  [
    "is not what the client says",
    { peer: "192.0.2.1:5", forwarded: "192.0.2.9", connecting: "192.0.2.8" },
    "192.0.2.1",
  ],
  ["is what a named proxy says", { peer: "10.0.0.1:5", forwarded: "192.0.2.9", proxies: "10.0.0.1" }, "192.0.2.9"],
  [
    "is what the named proxy added, not what the client wrote before it",
    { peer: "10.0.0.1:5", forwarded: "192.0.2.8, 192.0.2.9", proxies: "10.0.0.1" },
    "192.0.2.9",
  ],
  [
    "goes back through all named proxies",
    { peer: "[fd00::1]:5", forwarded: "192.0.2.8, [2001:db8::9]:70, 10.0.0.2", proxies: "10.0.0.2,FD00:0::1" },
    "2001:db8::9",
  ],
  ["is the proxy's when it says nothing", { peer: "10.0.0.1:5", proxies: "10.0.0.1" }, "10.0.0.1"],
  [
    "is the proxy's when it says nonsense",
    { peer: "10.0.0.1:5", forwarded: "192.0.2.8, unknown", proxies: "10.0.0.1" },
    "10.0.0.1",
  ],
  ["is Cloudflare's header there", { mode: "cloudflare", connecting: "192.0.2.9", peer: "10.0.0.1:5" }, "192.0.2.9"],
  [
    "is not X-Forwarded-For there",
    { mode: "cloudflare", connecting: "192.0.2.9", forwarded: "192.0.2.8" },
    "192.0.2.9",
  ],
])("the address of a client %s", (_, row, expected) => {
  expect(ask(row)).toBe(expected);
});

it.each(["", "unknown", "1.2.3", "1.2.3.4.5", "999.1.1.1", "[::1", "::1::2", "1.2.3.4:x"])(
  "%j is no address",
  (text) => {
    expect(canonicalAddress(text)).toBeUndefined();
  },
);
