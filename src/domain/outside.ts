import { Buffer } from "node:buffer";
import { isListed, isOutside, isProxied, type OutsideRules } from "#domain/outside-address";
import { connectDirectly, type ConnectTo } from "#lib/ftp/tcp";

/** The file could not be downloaded. The message may be shown to the user. */
export class DownloadFailed extends Error {
  override readonly name = "DownloadFailed";
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/**
 * The networks for URLs that came from a user. In embedded mode, the launcher binds two networks, and workerd checks
 * the address that it really connects to: OUTSIDE reaches only the public network, OUTSIDE_LISTED also the hosts that
 * the operator opened. Only an address that is listed with its port goes through OUTSIDE_LISTED, so a name that a user
 * chose for an opened host is refused. CATALOGUE_PROXY is the proxy of the host's apt, only for the mirrors of
 * catalogues. On Cloudflare none of them is bound, and no private network can be reached.
 */
export type OutsideEnv = OutsideRules & { OUTSIDE?: Fetcher; OUTSIDE_LISTED?: Fetcher; CATALOGUE_PROXY?: Fetcher };

const maxRedirects = 5;

export const outsideFetch =
  (env: OutsideEnv): Fetch =>
  (url, init) => {
    const network = networkOf(env, new URL(url));
    if (network && network === env.CATALOGUE_PROXY) return network.fetch(url, forProxy(url, init));
    return network ? network.fetch(url, init) : fetch(url, init);
  };

/** workerd sends the host's name to a proxy only in the request line, which not every proxy accepts. */
function forProxy(url: string, init: RequestInit): RequestInit {
  const headers = new Headers(init.headers);
  headers.set("host", new URL(url).host);
  return { ...init, headers };
}

/**
 * Opens TCP connections to the host of an address that `isOutside` has allowed. Connections to other ports of the host
 * use the same network.
 */
export function outsideConnect(env: OutsideEnv, url: URL): ConnectTo {
  const { hostname } = url;
  const network = networkOf(env, url);
  return network ? (port) => network.connect({ hostname, port }) : (port) => connectDirectly(hostname, port);
}

function networkOf(env: OutsideEnv, url: URL): Fetcher | undefined {
  if (env.CATALOGUE_PROXY && isProxied(env, url)) return env.CATALOGUE_PROXY;
  return isListed(env, url) ? (env.OUTSIDE_LISTED ?? env.OUTSIDE) : env.OUTSIDE;
}

/** How to send a request to an address. */
export interface Asking {
  fetchOutside: Fetch;
  signal: AbortSignal;
  headers?: Record<string, string>;
}

/**
 * Requests an http(s) URL and follows redirects. The answer may have any other status. Credentials in the URL are sent
 * only to its own host.
 */
export async function askOutside(rules: OutsideRules, address: URL, asking: Asking): Promise<Response> {
  let url = withoutCredentials(address);
  const { origin } = url;
  for (let redirects = 0; redirects <= maxRedirects; redirects++) {
    if (!/^https?:$/.test(url.protocol) || !isOutside(rules, url)) {
      throw new DownloadFailed(`The service must not connect to ${url.protocol}//${url.host}.`);
    }
    const answer = await asked(url, { ...asking, headers: headersFor(url.origin === origin ? address : url, asking) });
    const location = answer.status >= 300 && answer.status < 400 ? answer.headers.get("location") : null;
    if (location === null) return answer;
    await answer.body?.cancel();
    const next = URL.parse(location, url);
    if (!next) throw new DownloadFailed(`${url.href} redirects to an invalid URL.`);
    url = withoutCredentials(next);
  }
  throw new DownloadFailed(`${withoutCredentials(address).href} redirects too often.`);
}

async function asked({ href }: URL, { fetchOutside, signal, headers }: Asking & { headers: HeadersInit }) {
  return await fetchOutside(href, { redirect: "manual", signal, headers }).catch((error: unknown) => {
    throw new DownloadFailed(`${href} cannot be reached.`, { cause: error });
  });
}

function headersFor({ username, password }: URL, { headers = {} }: Asking): Record<string, string> {
  if (username === "") return headers;
  const [name, secret] = [username, password].map(decodedOrAsIs);
  return { ...headers, authorization: `Basic ${Buffer.from(`${name}:${secret}`).toString("base64")}` };
}

function decodedOrAsIs(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function withoutCredentials(url: URL): URL {
  const plain = new URL(url);
  plain.username = "";
  plain.password = "";
  return plain;
}
