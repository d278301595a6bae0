import type { GivenHost } from "./allowed-hosts.ts";
import { command } from "./command.ts";
import { isDebian } from "./host-packages.ts";

/** Where Debian's packages come from. Each is a URL without a slash at its end. */
export type DebianMirrors = { archive: string; security: string };

/** Debian's own mirror network, which the catalogues in templates/ name. */
export const publicMirrors: DebianMirrors = {
  archive: "http://deb.debian.org/debian",
  security: "http://deb.debian.org/debian-security",
};

/** The mirrors that this machine's own apt uses. On another system, or if its apt names none, those of Debian. */
export async function debianMirrors(signal: AbortSignal): Promise<DebianMirrors> {
  if (!isDebian()) return publicMirrors;
  const apt = (...args: string[]) => command("apt-get", args, { signal }).catch(() => "");
  const known = await apt("indextargets", "--format", "$(LABEL) $(REPO_URI)", "Created-By: Packages", "Origin: Debian");
  // Before the first `apt-get update`, apt knows the addresses of its sources and nothing else.
  const mirrors = mirrorsIn(known) ?? mirrorsIn(await apt("update", "--print-uris")) ?? {};
  signal.throwIfAborted();
  return { ...publicMirrors, ...mirrors };
}

/** Finds mirrors in what apt prints of its lists (`LABEL URL`) or of its sources (`'URL/dists/…/InRelease' …`). */
export function mirrorsIn(printed: string): Partial<DebianMirrors> | undefined {
  const found = (pattern: RegExp) => pattern.exec(printed)?.[1];
  const archive = found(labelled("Debian")) ?? found(sourceAt("debian"));
  const security = found(labelled("Debian-Security")) ?? found(sourceAt("debian-security"));
  return archive || security ? { ...(archive && { archive }), ...(security && { security }) } : undefined;
}

const labelled = (label: string) => new RegExp(`^${label} (https?://\\S+?)/*$`, "m");
const sourceAt = (path: string) => new RegExp(`^'(https?://[^/' ]+/${path})/dists/`, "m");

/** The host and port of each mirror: only these are opened, for repositories of the catalogues alone. */
export function hostsOf({ archive, security }: DebianMirrors): GivenHost[] {
  const hosts = [archive, security].map((mirror) => {
    const { hostname, port, protocol } = new URL(mirror);
    return { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port) || (protocol === "https:" ? 443 : 80) };
  });
  return hosts.filter(({ host, port }, at) => hosts.findIndex((one) => one.host === host && one.port === port) === at);
}
