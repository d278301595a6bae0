import type { GivenHost } from "./allowed-hosts.ts";
import { command } from "./command.ts";
import { isDebian } from "./host-packages.ts";

/** The sources of Debian's packages. Each is a URL without a trailing slash. */
export type DebianMirrors = { archive: string; security: string };

/** Debian's own mirror network, which the catalogues in templates/ name. */
export const publicMirrors: DebianMirrors = {
  archive: "http://deb.debian.org/debian",
  security: "http://deb.debian.org/debian-security",
};

/** The mirrors that this machine's apt uses. On another system, or if its apt has none, Debian's own mirrors. */
export async function debianMirrors(signal: AbortSignal): Promise<DebianMirrors> {
  if (!isDebian()) return publicMirrors;
  const apt = (...args: string[]) => command("apt-get", args, { signal }).catch(() => "");
  const known = await apt("indextargets", "--format", "$(LABEL) $(REPO_URI)", "Created-By: Packages", "Origin: Debian");
  // Before the first `apt-get update`, apt knows only the addresses of its sources.
  const mirrors = mirrorsIn(known) ?? mirrorsIn(await apt("update", "--print-uris")) ?? {};
  signal.throwIfAborted();
  return { ...publicMirrors, ...mirrors };
}

/** Finds mirrors in apt's output about its lists (`LABEL URL`) or its sources (`'URL/dists/…/InRelease' …`). */
export function mirrorsIn(printed: string): Partial<DebianMirrors> | undefined {
  const found = (pattern: RegExp) => pattern.exec(printed)?.[1];
  const archive = found(labelled("Debian")) ?? found(sourceAt("debian"));
  const security = found(labelled("Debian-Security")) ?? found(sourceAt("debian-security"));
  return archive || security ? { ...(archive && { archive }), ...(security && { security }) } : undefined;
}

const labelled = (label: string) => new RegExp(`^${label} (https?://\\S+?)/*$`, "m");
const sourceAt = (path: string) => new RegExp(`^'(https?://[^/' ]+/${path})/dists/`, "m");

/** The host and port of each mirror. Only these are opened, and only for repositories of the catalogues. */
export function hostsOf({ archive, security }: DebianMirrors): GivenHost[] {
  const hosts = [archive, security].map((mirror) => {
    const { hostname, port, protocol } = new URL(mirror);
    return { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port) || (protocol === "https:" ? 443 : 80) };
  });
  return hosts.filter(({ host, port }, at) => hosts.findIndex((one) => one.host === host && one.port === port) === at);
}
