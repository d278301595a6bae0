import { createMiddleware } from "hono/factory";
import { nothingHere } from "#api/respond";
import type { ApiEnv } from "#api/factory";

/** If TESTDRIVE_ORIGIN is set, that origin serves guests and nothing else, and no other origin serves guests. */
export const separateGuestOrigin = createMiddleware<ApiEnv>(async (c, next) => {
  const { TESTDRIVE_ORIGIN: origin } = c.env;
  if (origin === "") return await next();
  const { host, pathname } = new URL(c.req.url);
  const isGuest = pathname.startsWith("/testdrives/");
  return isGuest === (host === new URL(origin).host) ? await next() : nothingHere(c);
});
