import { hostOf, isAddress, isPublicAddress } from "#lib/contract/index";

/** The addresses that may be reached. */
export interface OutsideRules {
  /** The service's own address, from which it downloads nothing. Empty if it is unknown. */
  BASE_URL: string;
  /** `HOST` or `HOST:PORT`, comma-separated: private addresses that the operator opened (`--allow-host`). */
  ALLOW_HOSTS?: string;
  /** `HOST:PORT`, comma-separated: mirrors of the operator's catalogues, for their repositories only. */
  CATALOGUE_HOSTS?: string;
  /** The hosts of CATALOGUE_HOSTS that are reached through CATALOGUE_PROXY. */
  PROXIED_HOSTS?: string;
  /**
   * The hosts that are reached through the proxy, in the rules for a catalogue's repository. Absent in all other rules.
   */
  viaProxy?: string;
}

const ports: Record<string, string> = { "http:": "80", "https:": "443", "ftp:": "21" };

/**
 * Whether an address from a user may be requested at all. It must not be literally private or the service's own. Names
 * that resolve to a private address are handled by the network, see `outside`.
 */
export function isOutside(rules: OutsideRules, url: URL): boolean {
  if (isListed(rules, url)) return true;
  return !isPrivateHost(url) && url.host !== URL.parse(rules.BASE_URL)?.host;
}

/** Whether the operator opened exactly this host and port. */
export const isListed = ({ ALLOW_HOSTS = "" }: Partial<OutsideRules>, url: URL): boolean => isOneOf(ALLOW_HOSTS, url);

/** Whether the operator's catalogues reach exactly this host and port through a proxy. */
export const isProxied = ({ viaProxy = "" }: OutsideRules, url: URL): boolean => isOneOf(viaProxy, url);

function isOneOf(hosts: string, { hostname, port, protocol }: URL): boolean {
  const asked = port || ports[protocol];
  return hosts.split(",").some((opened) => {
    const [, host = "", openedPort = asked] = /^(\[.+\]|[^:]+)(?::(\d+))?$/.exec(opened) ?? [];
    return URL.parse(`http://${host}`)?.hostname === hostname && openedPort === asked;
  });
}

/** The rules for a catalogue's repository. The operator chose its mirror, which may be in a private network. */
export const rulesOfCatalogue = <R extends OutsideRules>(rules: R): R => ({
  ...rules,
  ALLOW_HOSTS: [rules.ALLOW_HOSTS, rules.CATALOGUE_HOSTS].filter(Boolean).join(","),
  viaProxy: rules.PROXIED_HOSTS,
});

/**
 * Whether the host is a literal address of a private, local or otherwise special network. `URL` has already normalised
 * its spelling.
 */
function isPrivateHost(url: URL): boolean {
  const host = hostOf(url);
  return isAddress(host) ? !isPublicAddress(host) : /(^|\.)(localhost|local|internal)\.?$/i.test(host);
}
