import { BlockList, isIPv6 } from "node:net";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/**
 * Whether only this machine can reach a service that listens on this address. A proxy on this machine may still forward
 * requests from others.
 */
export function isLoopback(address: string): boolean {
  return loopback.check(address, isIPv6(address) ? "ipv6" : "ipv4");
}

/** The URL for reaching such a service from this machine. "All addresses" cannot be called, so it becomes loopback. */
export function localUrl(address: string, port: number): string {
  const callable = address === "0.0.0.0" ? "127.0.0.1" : address === "::" ? "::1" : address;
  return `http://${isIPv6(callable) ? `[${callable}]` : callable}:${port}`;
}
