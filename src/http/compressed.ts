import { createMiddleware } from "hono/factory";

const types = /^(text\/(html|css|javascript)|application\/(javascript|json)|image\/svg\+xml)\b/;

/**
 * Compresses pages and their files if there is no Cloudflare edge that does it. workerd compresses the body itself if
 * the answer's headers declare it as compressed. Like the edge, this skips answers that must not be transformed.
 */
export const compressed = createMiddleware<{ Bindings: Pick<Env, "MODE"> }>(async (c, next) => {
  await next();
  const { headers, body, webSocket } = c.res;
  if (c.env.MODE !== "embedded" || webSocket || !body || headers.has("content-encoding")) return;
  if (headers.get("cache-control")?.includes("no-transform")) return;
  if (!types.test(headers.get("content-type") ?? "")) return;
  c.header("Vary", "Accept-Encoding", { append: true });
  if (!/\bgzip\b/.test(c.req.header("accept-encoding") ?? "")) return;
  c.res = new Response(body, c.res);
  c.res.headers.delete("content-length");
  c.res.headers.set("content-encoding", "gzip");
});
