import { shownGuestHeaders } from "#lib/contract/index";

/**
 * The only headers of a visitor that a guest gets. Cookies and credentials are not included, because they are for our
 * origin, and neither is the visitor's address. No content coding is requested, because nothing in between decodes it.
 */
const requestHeaderNames = [
  "accept",
  "accept-language",
  "cache-control",
  "content-length",
  "content-type",
  "if-match",
  "if-modified-since",
  "if-none-match",
  "if-range",
  "if-unmodified-since",
  "range",
  "sec-websocket-protocol",
  "user-agent",
  "x-csrf-token",
  "x-requested-with",
];

export function guestRequestHeaders(headers: Headers): Record<string, string> {
  const given = requestHeaderNames.flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(given), "accept-encoding": "identity" };
}

/**
 * Without allow-same-origin, a page has an opaque origin: it can read neither our pages nor data that browsers store
 * for us.
 */
const sandbox = "sandbox allow-downloads allow-forms allow-modals allow-popups allow-scripts";

/** The guest's headers and our own. A page with an opaque origin can read its server's files only with CORS. */
export function visitorHeaders(fromGuest: Readonly<Record<string, string>>): Headers {
  const headers = new Headers();
  for (const name of shownGuestHeaders) {
    const value = fromGuest[name];
    if (value !== undefined) headers.set(name, value);
  }
  headers.set("Content-Security-Policy", sandbox);
  headers.set("Cross-Origin-Opener-Policy", "same-origin");
  headers.set("Cache-Control", "no-store");
  headers.set("Access-Control-Allow-Origin", "*");
  return headers;
}

/** Answers a CORS preflight of a page with an opaque origin. */
export function allowPreflight(): Response {
  const headers = visitorHeaders({});
  headers.set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE");
  headers.set("Access-Control-Allow-Headers", "*");
  return new Response(null, { status: 204, headers });
}
