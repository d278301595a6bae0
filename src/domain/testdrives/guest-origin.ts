/** The Worker's variables for the origin of guests' web pages. */
interface GuestEnv {
  TESTDRIVE_ORIGIN: string;
}

/** Whether a URL has a host that only the browser's own machine can reach. */
export const isLoopbackUrl = (url: string): boolean =>
  /^(127(\.\d+){3}|\[::1\]|localhost|.+\.localhost)$/.test(new URL(url).hostname);

/**
 * The origin of guests' web pages. Its host name differs from the service's, because cookies ignore ports. A service on
 * a loopback address uses guests.localhost by default, because browsers and curl resolve *.localhost. Undefined if
 * there is no such origin.
 */
export function guestOrigin({ TESTDRIVE_ORIGIN: given }: GuestEnv, baseUrl: string): string | undefined {
  const base = new URL(baseUrl);
  if (given === "") {
    if (!isLoopbackUrl(baseUrl)) return undefined;
    base.hostname = "guests.localhost";
    return base.origin;
  }
  const { origin, host, hostname } = new URL(given);
  return hostname === base.hostname && host !== base.host ? undefined : origin;
}

/** Why a service must not start with these variables. Undefined if it may. */
export function guestOriginProblem({
  MODE,
  BASE_URL,
  TESTDRIVE_ORIGIN: given,
}: GuestEnv & { MODE: string; BASE_URL: string }): string | undefined {
  const wanted = "an address under a different host name than the service's, e.g. https://guests.example.net";
  if (given === "") {
    return MODE === "embedded" ? undefined : `Set TESTDRIVE_ORIGIN, where guests' web pages are shown: ${wanted}.`;
  }
  const url = URL.parse(given);
  const isOrigin = url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`;
  if (!isOrigin) return `TESTDRIVE_ORIGIN ${given}: give ${wanted}.`;
  if (BASE_URL === "" || url.hostname !== new URL(BASE_URL).hostname) return undefined;
  return `TESTDRIVE_ORIGIN ${given} has the host name of BASE_URL, and cookies ignore ports: give ${wanted}.`;
}
