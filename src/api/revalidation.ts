import type { Context } from "hono";
import { changedMeanwhile } from "#domain/refusal";
import { prefersJson } from "#http/accept";
import { etagOf, failsIfMatch, hitsIfNoneMatch } from "#http/etag";
import { writeXml, type XmlValue } from "#wire/xml";
import { xml } from "#api/respond";

/** Answers a document with its ETag, or 304 where `If-None-Match` says that the client has it. */
export function validated(c: Context, root: string, value: XmlValue): Response {
  const etag = etagsOf(root, value)[prefersJson(c.req.header("accept")) ? "json" : "xml"];
  c.header("ETag", etag);
  const reads = c.req.method === "GET" || c.req.method === "HEAD";
  if (!reads || !hitsIfNoneMatch(c.req.header("if-none-match"), etag)) return xml(c, root, value);
  c.header("Vary", "Accept");
  return c.body(null, 304);
}

/** Refuses a change of a document that is not in the state of `If-Match` any more; `value`: the state it is in. */
export function refuseUnlessMatch(c: Context, root: string, value: XmlValue): void {
  const header = c.req.header("if-match");
  if (header === undefined) return;
  const { xml, json } = etagsOf(root, value);
  if (!failsIfMatch(header, xml) || !failsIfMatch(header, json)) return;
  throw changedMeanwhile();
}

/** Of one state in both of its forms: other bytes, another tag. */
function etagsOf(root: string, value: XmlValue): { xml: string; json: string } {
  const xml = etagOf(writeXml(root, value));
  return { xml, json: xml.replace(/"$/, '-json"') };
}
