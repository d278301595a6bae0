import { createMiddleware } from "hono/factory";
import { nothingHere } from "#api/respond";
import type { ApiEnv } from "#api/factory";
import { guestOrigin } from "#domain/testdrives/guest-origin";

/** The origin of guests serves their web pages and nothing else, and no other origin serves them. */
export const separateGuestOrigin = createMiddleware<ApiEnv>(async (c, next) => {
  const { host, pathname } = new URL(c.req.url);
  const origin = guestOrigin(c.env, c.var.baseUrl);
  const isGuestHost = origin !== undefined && host === new URL(origin).host;
  return isGuestHost === pathname.startsWith("/testdrives/") ? await next() : nothingHere(c);
});
