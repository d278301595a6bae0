import { factory } from "./factory.ts";

/** Allows a page only our own files, and no frames. noVNC draws its pointer as a data: image. */
export const pageHeaders = factory.createMiddleware(async (c, next) => {
  await next();
  if (c.res.webSocket) return;
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
  c.header("Cache-Control", "no-store");
});
