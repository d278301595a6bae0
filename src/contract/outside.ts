import ipaddr from "ipaddr.js";

/**
 * Whether an IP address is one of the public internet: of no special-purpose registry of IANA, so not private, local, shared,
 * documentation, multicast, or a tunnel that carries another address inside (NAT64, 6to4, Teredo). An IPv4 address written as
 * IPv6 (`::ffff:…`) counts as IPv4. Anything that is not an address is not public.
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.process(address);
  if (parsed.range() !== "unicast") return false;
  return parsed instanceof ipaddr.IPv4 || parsed.match(globalUnicast, 3);
}

/** All IPv6 addresses that IANA has allocated so far (RFC 4291 §2.4). */
const globalUnicast = ipaddr.IPv6.parse("2000::");

/** A host as a URL has it: without the brackets of an IPv6 address. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, "$1");

export const isAddress = (host: string): boolean => ipaddr.isValid(host);
