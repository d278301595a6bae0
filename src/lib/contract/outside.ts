import ipaddr from "ipaddr.js";

/**
 * The networks that are not the public internet: those of IANA's special-purpose registries, such as private, local,
 * shared and documentation networks, and tunnels that carry another address inside (NAT64, 6to4, Teredo). For IPv6,
 * this is everything outside 2000::/3, which is all that IANA has allocated so far (RFC 4291 §2.4).
 */
export const specialNetworks: readonly string[] = [
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.31.196.0/24",
  "192.52.193.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "192.175.48.0/24",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
  "::/3",
  "2001::/23",
  "2001:db8::/32",
  "2002::/16",
  "2620:4f:8000::/48",
  "3fff::/20",
  "4000::/2",
  "8000::/1",
];

const ranges = { special: specialNetworks.map((network) => ipaddr.parseCIDR(network)) };

/**
 * Whether an IP address belongs to the public internet. An IPv4 address written as IPv6 (`::ffff:…`) counts as IPv4.
 * Anything that is not an address is not public.
 */
export const isPublicAddress = (address: string): boolean =>
  ipaddr.isValid(address) && ipaddr.subnetMatch(ipaddr.process(address), ranges, "public") === "public";

/** A host as a URL has it: without the brackets of an IPv6 address. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[(.*)\]$/, "$1");

export const isAddress = (host: string): boolean => ipaddr.isValid(host);
