/** The settings that decide which of the addresses in a request is trusted. */
export type AddressRules = Pick<Env, "MODE" | "TRUSTED_PROXIES">;

/**
 * The IP address of the client. A header from the client itself is never trusted: only the part of X-Forwarded-For that
 * one of the operator's proxies wrote counts (`--trusted-proxy`). Undefined if the runtime does not know the address.
 */
export function clientAddress(request: Request, { MODE, TRUSTED_PROXIES: named }: AddressRules): string | undefined {
  const trusted = proxiesIn(named);
  let address = canonicalAddress(peerOf(request, MODE));
  // Each proxy appends the address of its caller, so the last one is the nearest.
  const hops = (request.headers.get("x-forwarded-for") ?? "").split(",");
  while (address !== undefined && trusted.has(address)) {
    const hop = canonicalAddress(hops.pop() ?? "");
    if (hop === undefined) break;
    address = hop;
  }
  return address;
}

interface Asking {
  req: { raw: Request };
  env: AddressRules;
  var: { account?: { id: number } };
}

/** The receiver of a download: the address, and the account if the request is signed in. */
export const readerOf = ({ req, env, var: { account } }: Asking) => ({
  address: clientAddress(req.raw, env),
  accountId: account?.id,
});

let latest: { named: string; proxies: ReadonlySet<string | undefined> } | undefined;

/** Parsed once, since the setting does not change while the service runs. */
function proxiesIn(named: string): ReadonlySet<string | undefined> {
  if (latest?.named !== named) {
    latest = { named, proxies: new Set(named.split(",").map((address) => canonicalAddress(address))) };
  }
  return latest.proxies;
}

/** Cloudflare overwrites its header in each request. In embedded mode the launcher's socket provides the address. */
function peerOf(request: Request, mode: string): string {
  if (mode !== "embedded") return request.headers.get("cf-connecting-ip") ?? "";
  const address = request.cf?.["clientIp"];
  return typeof address === "string" ? address : "";
}

/**
 * The address without the port, in canonical form. Accepts `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1` and
 * `[2001:db8::1]:80`.
 */
export function canonicalAddress(text: string): string | undefined {
  const bare = text.trim().replace(/^\[([^\]]*)\](:\d+)?$/, "$1");
  if (/^[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.]*$/i.test(bare)) return canonicalV6(bare);
  const address = bare.replace(/:\d+$/, "");
  return /^\d+(\.\d+){3}$/.test(address) ? URL.parse(`http://${address}`)?.hostname : undefined;
}

/** Turns `::ffff:192.0.2.1`, as a socket that listens on `::` shows IPv4 clients, into `192.0.2.1`. */
function canonicalV6(text: string): string | undefined {
  const address = URL.parse(`http://[${text}]`)?.hostname.slice(1, -1);
  const [, high, low] = /^::ffff:([0-9a-f]+):([0-9a-f]+)$/.exec(address ?? "") ?? [];
  if (high === undefined || low === undefined) return address;
  return [high, low].flatMap((word) => [parseInt(word, 16) >> 8, parseInt(word, 16) & 255]).join(".");
}
