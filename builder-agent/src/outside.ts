import { lookup } from "node:dns/promises";
import { BlockList, isIP } from "node:net";

/** An address that a user gave and that this agent does not visit. */
export class OutsideRefused extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = "OutsideRefused";
  }
}

export interface OutsideRules {
  /** HOST or HOST:PORT, allowed whatever their address. */
  allowHosts: readonly string[];
  /** How names become addresses. */
  resolve?: (host: string) => Promise<string[]>;
}

/**
 * The one door for urls that came from users: http and https, and no address inside somebody's network. A name is refused
 * if any of its addresses is private, so that an answer with two of them cannot smuggle one in.
 */
export async function checkOutside(address: string, rules: OutsideRules): Promise<URL> {
  const url = URL.parse(address);
  if (url === null) throw new OutsideRefused(`"${address}" is not a url.`);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new OutsideRefused(`${url.protocol.slice(0, -1)} addresses are not fetched, only http and https.`);
  }
  if (isAllowed(url, rules.allowHosts)) return url;
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const addresses = isIP(host) === 0 ? await resolveName(host, rules.resolve ?? systemLookup) : [host];
  if (addresses.some(isPrivate)) throw new OutsideRefused(`${url.host} is an address inside a private network.`);
  return url;
}

function isAllowed(url: URL, allowHosts: readonly string[]): boolean {
  const port = url.port === "" ? (url.protocol === "https:" ? "443" : "80") : url.port;
  const names = [url.hostname, `${url.hostname}:${port}`];
  return allowHosts.some((allowed) => names.includes(allowed.toLowerCase()));
}

async function resolveName(host: string, resolve: (host: string) => Promise<string[]>): Promise<string[]> {
  const addresses = await resolve(host).catch(() => []);
  if (addresses.length === 0) throw new OutsideRefused(`The host ${host} is unknown.`);
  return addresses;
}

const systemLookup = async (host: string) => (await lookup(host, { all: true })).map((found) => found.address);

/** Exported for the table of its cases. IPv4 addresses written as IPv6 (::ffff:…) are checked as IPv4. */
export function isPrivate(address: string): boolean {
  const family = isIP(address);
  return family === 0 || privateNetworks.check(address, family === 6 ? "ipv6" : "ipv4");
}

const privateNetworks = new BlockList();
// IANA's special-purpose registries: "this network", private, shared, loopback, link-local, protocol, benchmark, multicast, reserved.
for (const [network, prefix] of [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
] as const) {
  privateNetworks.addSubnet(network, prefix, "ipv4");
}
// Unspecified and loopback, unique local, link-local, multicast; NAT64 and 6to4, which carry any IPv4 address inside.
for (const [network, prefix] of [
  ["::", 127],
  ["fc00::", 7],
  ["fe80::", 10],
  ["ff00::", 8],
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["2002::", 16],
] as const) {
  privateNetworks.addSubnet(network, prefix, "ipv6");
}
