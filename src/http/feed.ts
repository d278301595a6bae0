import type { Context } from "hono";
import { atomFeed, type Feed } from "#lib/atom/feed";
import { etagOf, hitsIfNoneMatch } from "#http/etag";

export const atomType = "application/atom+xml";

/** Answers with a feed, or without a body if the reader already has it. */
export function answerFeed(c: Context, feed: Feed): Response {
  const body = atomFeed(feed);
  const headers = { ETag: etagOf(body), "Cache-Control": "no-cache" };
  if (hitsIfNoneMatch(c.req.header("if-none-match"), headers.ETag)) return c.body(null, 304, headers);
  return c.body(body, 200, { ...headers, "Content-Type": `${atomType}; charset=utf-8` });
}
