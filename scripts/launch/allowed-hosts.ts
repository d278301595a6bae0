import { lookup } from "node:dns/promises";
import { isIP, isIPv6 } from "node:net";
import { networkInterfaces } from "node:os";
import { isLoopback } from "./address.ts";
import { Complaint } from "./complaint.ts";

/** One --allow-host from the command line: HOST[:PORT], with an IPv6 address in brackets. */
export type GivenHost = { host: string; port: number | undefined };
/** The private addresses that an operator has opened, in the form that each part needs. */
export type AllowedHosts = {
  /** The hosts for the agent and for the Worker's variable ALLOW_HOSTS, which check name and port. */
  names: string[];
  /** The networks for workerd, which checks the address that it really connects to. */
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

/**
 * Resolves every name once, so a name's later address is not allowed before the next start. On this machine itself,
 * only single ports can be opened, except Kiln's own.
 */
export async function resolveHosts(
  hosts: readonly GivenHost[],
  isOwnPort: (port: number) => boolean,
): Promise<AllowedHosts> {
  const addresses = await Promise.all(hosts.map(addressesOf));
  for (const [at, given] of hosts.entries()) if (addresses[at]?.some(isOfThisMachine)) refuseOwn(given, isOwnPort);
  return {
    names: hosts.map(writtenHost),
    cidrs: [...new Set(addresses.flat().map((address) => `${address}/${isIPv6(address) ? 128 : 32}`))],
  };
}

/** `HOST[:PORT]`, with an IPv6 address in brackets. */
export const writtenHost = ({ host, port }: GivenHost): string =>
  `${isIPv6(host) ? `[${host}]` : host}${port === undefined ? "" : `:${port}`}`;

function refuseOwn(given: GivenHost, isOwnPort: (port: number) => boolean): void {
  if (given.port === undefined) {
    throw new Complaint(
      `--allow-host ${writtenHost(given)}: this is the machine that Kiln runs on. Add a port, e.g. ${writtenHost({ ...given, port: 8080 })}; without one, users could reach every service of this machine.`,
    );
  }
  if (isOwnPort(given.port)) throw new Complaint(`--allow-host ${writtenHost(given)}: Kiln itself uses this port.`);
}

function isOfThisMachine(address: string): boolean {
  const own = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  const isUnspecified = /^(0\.0\.0\.0|[0:]+)$/.test(address); // Linux connects such an address to this machine
  return isUnspecified || isLoopback(address) || own.some((each) => each.address === address);
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
