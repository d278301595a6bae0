import { Refusal } from "#domain/refusal";
import { factory } from "#api/factory";

export const readingMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

/**
 * Browsers attach cached Basic credentials to forms of other sites. If the headers show that a request comes from
 * another site and it would change something, it is refused before it is parsed. No client of the original sends either
 * header.
 */
export const refuseForeignOrigins = factory.createMiddleware(async (c, next) => {
  if (!readingMethods.has(c.req.method) && isForeign(c.req.raw.headers, [c.var.baseUrl, c.req.url])) {
    throw new Refusal("access_denied", { message: "Requests from other sites are refused." });
  }
  await next();
});

/** Whether a page of another site made the browser send this request. `ours` contains this service's addresses. */
export function isForeign(headers: Headers, ours: string[]): boolean {
  const site = headers.get("sec-fetch-site");
  if (site !== null && site !== "same-origin" && site !== "none") return true;
  const origin = headers.get("origin");
  return origin !== null && !ours.some((url) => new URL(url).origin === origin);
}
