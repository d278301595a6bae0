import { lookup } from "node:dns/promises";
import type { LookupFunction } from "node:net";
import { Agent, ProxyAgent } from "undici";
import { hostOf, isAddress, isPublicAddress } from "./contract.ts";

/** Thrown for a URL from a user that this agent must not fetch. */
export class OutsideRefused extends Error {
  override readonly name = "OutsideRefused";
}

export interface OutsideRules {
  /** Allowed hosts, each as HOST or HOST:PORT, which may have any address. */
  allowHosts: readonly string[];
  /** An HTTP proxy, and the `HOST:PORT`s that it is used for. It resolves their names itself. */
  proxy?: { url: string; hosts: readonly string[] } | undefined;
  /** Resolves a host name to its addresses. */
  resolve?: (host: string) => Promise<string[]>;
}

/**
 * Fetches a URL that came from a user: http or https, and no private address. A name is resolved once, and the
 * connection goes to the checked addresses, so a name whose address changes in between cannot lead elsewhere. Does not
 * follow redirects, because their targets must be checked in the same way.
 *
 * @throws OutsideRefused
 */
export async function fetchOutside(address: string, rules: OutsideRules, init: RequestInit = {}): Promise<Response> {
  const url = fetchable(address);
  const dispatcher =
    proxyFor(url, rules) ?? (isListed(url, rules.allowHosts) ? undefined : checkedConnections(url, rules));
  try {
    return await fetch(url, { ...init, redirect: "manual", ...(dispatcher && { dispatcher }) });
  } catch (error) {
    throw error instanceof TypeError && error.cause instanceof OutsideRefused ? error.cause : error;
  }
}

function fetchable(address: string): URL {
  const url = URL.parse(address);
  if (url === null) throw new OutsideRefused(`"${address}" is not a valid URL.`);
  if (url.protocol === "http:" || url.protocol === "https:") return url;
  throw new OutsideRefused(`The URL must be http or https, not ${url.protocol.slice(0, -1)}.`);
}

const proxies = new Map<string, ProxyAgent>();

function proxyFor(url: URL, { proxy }: OutsideRules): ProxyAgent | undefined {
  if (proxy === undefined || url.protocol !== "http:" || !isListed(url, proxy.hosts)) return undefined;
  const known = proxies.get(proxy.url) ?? new ProxyAgent({ uri: proxy.url, proxyTunnel: false });
  proxies.set(proxy.url, known);
  return known;
}

function isListed(url: URL, hosts: readonly string[]): boolean {
  const port = url.port === "" ? (url.protocol === "https:" ? "443" : "80") : url.port;
  const names = [url.hostname, `${url.hostname}:${port}`];
  return hosts.some((allowed) => names.includes(allowed.toLowerCase()));
}

/** Connects to public addresses only. A literal address is never looked up, so it is checked here. */
function checkedConnections(url: URL, { resolve }: OutsideRules): Agent {
  const host = hostOf(url);
  if (isAddress(host) && !isPublicAddress(host)) throw privateAddress(url.host);
  return resolve ? new Agent({ connect: { lookup: checkedLookup(resolve) } }) : publicAgent;
}

/** Refuses a name if any of its addresses is private. */
const checkedLookup =
  (resolve: (host: string) => Promise<string[]>): LookupFunction =>
  (host, { all }, answer) => {
    void resolve(host)
      .catch((): string[] => [])
      .then((addresses) => {
        const found = addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
        const [first] = found;
        if (!first) return answer(new OutsideRefused(`The host ${host} is unknown.`), "");
        if (!addresses.every(isPublicAddress)) return answer(privateAddress(host), "");
        return all ? answer(null, found) : answer(null, first.address, first.family);
      });
  };

const systemLookup = async (host: string) => (await lookup(host, { all: true })).map(({ address }) => address);
const publicAgent = new Agent({ connect: { lookup: checkedLookup(systemLookup) } });

const privateAddress = (host: string) => new OutsideRefused(`${host} is an address in a private network.`);
