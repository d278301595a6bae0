import { createMiddleware } from "hono/factory";
import { nothingHere } from "#http/respond";
import type { ApiEnv } from "#api/factory";
import { guestOrigin } from "#domain/testdrives/guest-origin";

/** The origin of guests serves their web pages and nothing else, and no other origin serves them. */
export const separateGuestOrigin = createMiddleware<ApiEnv>(async (c, next) => {
  const isGuestHost = new URL(c.req.url).host === guestHost(c.env, c.var.baseUrl);
  return isGuestHost === c.req.path.startsWith("/testdrives/") ? await next() : nothingHere(c);
});

let latest: { given: string; baseUrl: string; host: string | undefined } | undefined;

/** Cached until a request uses another name of the service. */
function guestHost({ TESTDRIVE_ORIGIN: given }: Pick<Env, "TESTDRIVE_ORIGIN">, baseUrl: string): string | undefined {
  if (latest?.given !== given || latest.baseUrl !== baseUrl) {
    const origin = guestOrigin({ TESTDRIVE_ORIGIN: given }, baseUrl);
    latest = { given, baseUrl, host: origin && new URL(origin).host };
  }
  return latest.host;
}
