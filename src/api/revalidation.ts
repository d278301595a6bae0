import type { Context } from "hono";
import { changedMeanwhile } from "#domain/refusal";
import { prefersJson } from "#http/accept";
import { etagOf, failsIfMatch, hitsIfNoneMatch } from "#http/etag";
import type { Document } from "#lib/wire/shape";
import { viewOf } from "#lib/wire/view";
import { writeXml, type XmlValue } from "#lib/wire/xml";
import type { ApiEnv } from "#api/factory";
import { xml } from "#http/respond";

/** Answers with a document and its ETag, or 304 if `If-None-Match` shows that the client has it. */
export function validated(c: Context, root: string, value: XmlValue): Response {
  const etag = etagsOf(root, value)[prefersJson(c.req.header("accept")) ? "json" : "xml"];
  c.header("ETag", etag);
  const reads = c.req.method === "GET" || c.req.method === "HEAD";
  if (!reads || !hitsIfNoneMatch(c.req.header("if-none-match"), etag)) return xml(c, root, value);
  c.header("Vary", "Accept");
  return c.body(null, 304);
}

/**
 * Refuses to change a document that is no longer in the state that `If-Match` names. Undefined if the client sent no
 * `If-Match`.
 */
export function preconditionOf<T>(c: Context<ApiEnv>, document: Document<T>): ((state: T) => void) | undefined {
  const header = c.req.header("if-match");
  if (header === undefined) return undefined;
  return (state) => {
    const { xml, json } = etagsOf(document.root, viewOf(document, state, c.var));
    if (failsIfMatch(header, xml) && failsIfMatch(header, json)) throw changedMeanwhile();
  };
}

/** The ETags of a state. XML and JSON differ in their bytes, so they have different tags. */
function etagsOf(root: string, value: XmlValue): { xml: string; json: string } {
  const xml = etagOf(writeXml(root, value));
  return { xml, json: xml.replace(/"$/, '-json"') };
}
