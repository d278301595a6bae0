/** What says where a request came from. */
export type AddressRules = Pick<Env, "MODE" | "TRUSTED_PROXIES">;

/**
 * The IP address of the client. What a client itself writes into a header is never believed: X-Forwarded-For counts only as far as
 * a proxy wrote it that the operator has named (`--trusted-proxy`). Undefined: the runtime does not say.
 */
export function clientAddress(request: Request, { MODE, TRUSTED_PROXIES: named }: AddressRules): string | undefined {
  const trusted = new Set(named.split(",").map((address) => canonicalAddress(address)));
  let address = canonicalAddress(peerOf(request, MODE));
  // Each proxy has added the address that it was called from, so the last one is the nearest.
  const hops = (request.headers.get("x-forwarded-for") ?? "").split(",");
  while (address !== undefined && trusted.has(address)) {
    const hop = canonicalAddress(hops.pop() ?? "");
    if (hop === undefined) break;
    address = hop;
  }
  return address;
}

/** Cloudflare overwrites its header with each request; embedded the launcher's socket says who has connected. */
function peerOf(request: Request, mode: string): string {
  if (mode !== "embedded") return request.headers.get("cf-connecting-ip") ?? "";
  const address = request.cf?.["clientIp"];
  return typeof address === "string" ? address : "";
}

/** `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1` or `[2001:db8::1]:80` without the port, in its one spelling. */
export function canonicalAddress(text: string): string | undefined {
  const bare = text.trim().replace(/^\[([^\]]*)\](:\d+)?$/, "$1");
  if (/^[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.]*$/i.test(bare)) return canonicalV6(bare);
  const address = bare.replace(/:\d+$/, "");
  return /^\d+(\.\d+){3}$/.test(address) ? URL.parse(`http://${address}`)?.hostname : undefined;
}

/** A socket that listens on `::` writes IPv4 clients as `::ffff:192.0.2.1`. */
function canonicalV6(text: string): string | undefined {
  const address = URL.parse(`http://[${text}]`)?.hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(address ?? "") ?? [];
  if (high === undefined || low === undefined) return address;
  return [high, low].flatMap((word) => [parseInt(word, 16) >> 8, parseInt(word, 16) & 255]).join(".");
}
