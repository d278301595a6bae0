import { command } from "./command.ts";
import { isDebian } from "./host-packages.ts";
import { warn } from "./progress.ts";

/** The HTTP proxy of this machine's apt, and the hosts that apt reaches through it. */
export type AptProxy = {
  /** `HOST:PORT` */
  address: string;
  /** `HOST:PORT` of each mirror. */
  hosts: string[];
};

type MirrorHost = { host: string; port: number | undefined };

/** The proxy through which this machine's apt reaches these mirrors, if there is one. */
export async function aptProxyOf(hosts: readonly MirrorHost[], signal: AbortSignal): Promise<AptProxy | undefined> {
  if (!isDebian()) return undefined;
  const names = hosts.flatMap(({ host }, at) => [`own${at}`, `Acquire::http::Proxy::${host}`]);
  const words = ["shell", "all", "Acquire::http::Proxy", ...names];
  const printed = await command("apt-config", words, { signal }).catch(() => "");
  signal.throwIfAborted();
  return proxyIn(printed, hosts);
}

/** Reads the output of `apt-config shell`: `all='http://proxy.lan:3142'`, and `own0='DIRECT'` for the first host. */
function proxyIn(printed: string, hosts: readonly MirrorHost[]): AptProxy | undefined {
  const value = (name: string) => new RegExp(`^${name}='([^'\n]+)'$`, "m").exec(printed)?.[1];
  const chosen = hosts.map(({ host, port }, at) => ({ port, host, proxy: value(`own${at}`) ?? value("all") }));
  // For https, apt has a separate setting, because it needs tunnels.
  const proxied = chosen.flatMap(({ host, port, proxy }) => {
    const address = proxy === undefined || proxy === "DIRECT" || port === 443 ? undefined : addressOf(proxy);
    return address === undefined ? [] : [{ address, name: `${host.includes(":") ? `[${host}]` : host}:${port ?? 80}` }];
  });
  const [first] = proxied;
  if (!first) return undefined;
  const others = proxied.filter(({ address }) => address !== first.address);
  if (others.length > 0) warn(`apt uses several proxies. Kiln uses ${first.address}, and none for ${others[0]?.name}.`);
  return {
    address: first.address,
    hosts: proxied.filter(({ address }) => address === first.address).map(({ name }) => name),
  };
}

function addressOf(proxy: string): string | undefined {
  const url = URL.parse(proxy);
  if (url?.protocol === "http:" && url.username === "") return `${url.hostname}:${url.port || 80}`;
  warn(`Kiln cannot use apt's proxy: it must be like http://proxy.lan:3142, without a password.`);
  return undefined;
}
