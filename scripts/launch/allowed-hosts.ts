import { lookup } from "node:dns/promises";
import { isIP, isIPv6 } from "node:net";
import { Complaint } from "./complaint.ts";

/** One --allow-host as it was given: HOST[:PORT], an IPv6 address in brackets. */
export type GivenHost = { host: string; port: number | undefined };
/** The private addresses that an operator opened, in the words of each part that needs them. */
export type AllowedHosts = {
  /** For the agent and the Worker's variable ALLOW_HOSTS: they check name and port. */
  names: string[];
  /** For workerd, which checks the address that it really connects to. */
  cidrs: string[];
};

export function parseHost(given: string): GivenHost {
  const found = /^(?:\[(?<v6>[0-9a-fA-F:.]+)\]|(?<name>[A-Za-z0-9._-]+))(?::(?<port>\d{1,5}))?$/.exec(given)?.groups;
  const host = found?.["v6"] ?? found?.["name"];
  const port = found?.["port"] === undefined ? undefined : Number(found["port"]);
  const isRight = host !== undefined && (found?.["v6"] === undefined || isIPv6(host));
  if (isRight && (port === undefined || (port > 0 && port < 65_536))) return { host: host.toLowerCase(), port };
  throw new Complaint(`--allow-host ${given}: give HOST or HOST:PORT, e.g. mirror.lan:8080 or [fd00::1]:80.`);
}

/** Looks every name up once: an address that it gets later is not allowed before the next start. */
export async function resolveHosts(hosts: readonly GivenHost[]): Promise<AllowedHosts> {
  const addresses = await Promise.all(hosts.map(addressesOf));
  return {
    names: hosts.map(({ host, port }) => `${isIPv6(host) ? `[${host}]` : host}${port === undefined ? "" : `:${port}`}`),
    cidrs: [...new Set(addresses.flat().map((address) => `${address}/${isIPv6(address) ? 128 : 32}`))],
  };
}

async function addressesOf({ host }: GivenHost): Promise<string[]> {
  if (isIP(host) !== 0) return [host];
  try {
    return (await lookup(host, { all: true })).map((found) => found.address);
  } catch {
    throw new Complaint(
      `--allow-host ${host}: this name has no address. Check the spelling, or give the address itself.`,
    );
  }
}
