import { shownGuestHeaders } from "#contract/index";

/**
 * All that a guest hears of a visitor's headers. Not among them: cookies and credentials, which are meant for us, and where
 * he comes from. Content is asked for as it is, since nobody between the two decodes it.
 */
const askedNames = [
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
  "user-agent",
  "x-csrf-token",
  "x-requested-with",
];

export function askedHeaders(headers: Headers): Record<string, string> {
  const given = askedNames.flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(given), "accept-encoding": "identity" };
}

/** Without allow-same-origin a page is of no origin: it reads neither our pages nor what a browser keeps for us. */
const sandbox = "sandbox allow-downloads allow-forms allow-modals allow-popups allow-scripts";

/** What a guest may say, and what we say about it. A page without an origin reads its own server's files by CORS alone. */
export function shownHeaders(said: Readonly<Record<string, string>>): Headers {
  const headers = new Headers();
  for (const name of shownGuestHeaders) {
    const value = said[name];
    if (value !== undefined) headers.set(name, value);
  }
  headers.set("Content-Security-Policy", sandbox);
  headers.set("X-Content-Type-Options", "nosniff");
  headers.set("Referrer-Policy", "no-referrer");
  headers.set("Cross-Origin-Opener-Policy", "same-origin");
  headers.set("Cache-Control", "no-store");
  headers.set("Access-Control-Allow-Origin", "*");
  return headers;
}

/** Our own answer to what a browser asks before a request of a page without an origin. */
export function allowPreflight(): Response {
  const headers = shownHeaders({});
  headers.set("Access-Control-Allow-Methods", "GET, HEAD, POST, PUT, PATCH, DELETE");
  headers.set("Access-Control-Allow-Headers", "*");
  return new Response(null, { status: 204, headers });
}
