import { Refusal } from "#domain/refusal";

/** The address that a person gives for a repository: http(s), in one spelling, so that the same one is found again. */
export function parseRepositoryUrl(env: Pick<Env, "MODE">, text: string): string {
  const url = URL.parse(text.trim());
  if (!url || !/^https?:$/.test(url.protocol) || text.length > 1000) throw refused("The url is no http address.");
  if (url.username !== "" || url.password !== "") throw refused("The url must not hold credentials.");
  if (url.search !== "" || url.hash !== "") throw refused("The url of a repository has no ? and no #.");
  if (!isReachable(env, url)) throw refused("The url leads into a private network.");
  url.pathname = url.pathname.replace(/(\/repodata)?(\/repomd\.xml)?\/*$/, "");
  return url.href.replace(/\/$/, "");
}

/**
 * Whether this service fetches from an address. On Cloudflare nothing private can be reached anyway: there this only says
 * so early. Embedded, workerd checks the addresses that it really connects to.
 */
export const isReachable = (env: Pick<Env, "MODE">, url: URL): boolean =>
  /^https?:$/.test(url.protocol) && (env.MODE === "embedded" || !isPrivateHost(url.hostname));

/** A literal address of a private, local or otherwise special network; `URL` has made its spelling canonical. */
function isPrivateHost(host: string): boolean {
  if (/(^|\.)(localhost|local|internal)\.?$/i.test(host)) return true;
  if (host.startsWith("[")) return !/^\[[23]/.test(host) || /^\[(2001:(0:|db8:)|2002:)/.test(host);
  const [a, b, c] = host.split(".").map(Number);
  if (!/^\d+(\.\d+){3}$/.test(host) || a === undefined || b === undefined) return false;
  return (
    [0, 10, 127].includes(a) ||
    a >= 224 ||
    (a === 100 && b >= 64 && b < 128) ||
    (a === 169 && b === 254) ||
    (a === 172 && b >= 16 && b < 32) ||
    (a === 192 && (b === 168 || (b === 0 && (c === 0 || c === 2)))) ||
    (a === 198 && (b === 18 || b === 19))
  );
}

const refused = (message: string) => new Refusal("invalid_value", { message });
