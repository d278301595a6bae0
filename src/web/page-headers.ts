import type { Context } from "hono";
import { factory, type WebEnv } from "./factory.ts";

/** Allows a page only our own files, and no frames. noVNC draws its pointer as a data: image. */
export function setPageHeaders(c: Context<WebEnv>): void {
  const sockets = c.var.baseUrl.replace(/^http/, "ws");
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src 'self' ${new URL(sockets).origin}`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  c.header("Content-Security-Policy", policy.join("; "));
  // Not "no-referrer": with it, browsers send forms with the origin "null", which is refused as another site's.
  c.header("Referrer-Policy", "same-origin");
  c.header("X-Frame-Options", "DENY");
  c.header("Cross-Origin-Opener-Policy", "same-origin");
  c.header("Cross-Origin-Resource-Policy", "same-origin");
}

/** Entry points for programs. Their errors are documents, whatever the Accept header requests. */
export const isForPrograms = (path: string): boolean =>
  /^\/(api(?!\/docs)|agent|admin|client|\.well-known)(\/|$)/.test(path);

/** A page is for one person and one moment, so it is not cached by default. */
export const noStore = factory.createMiddleware(async (c, next) => {
  await next();
  if (!isForPrograms(c.req.path) && !c.res.webSocket && !c.res.headers.has("cache-control"))
    c.header("Cache-Control", "no-store");
});
