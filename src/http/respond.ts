import { Buffer } from "node:buffer";
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { error } from "#documents/error";
import type { RefusalCode } from "#domain/refusal";
import { prefersJson, prefersText } from "#http/accept";
import { writeJson } from "#lib/wire/json";
import { viewOf } from "#lib/wire/view";
import { writeXml, type XmlValue } from "#lib/wire/xml";

// Exactly this type: one client compares the text before ";" with application/xml.
const xmlType = "application/xml; charset=utf-8";
const jsonType = "application/json; charset=utf-8";

/**
 * Answers with a document as XML, or as JSON for a client that requests it. Sends the length, because old clients need
 * it on keep-alive connections.
 */
export function xml(c: Context, root: string, value: XmlValue, status: ContentfulStatusCode = 200): Response {
  const isJson = prefersJson(c.req.header("accept"));
  const body = isJson ? writeJson(root, value) : writeXml(root, value);
  return c.body(body, status, {
    "Content-Type": isJson ? jsonType : xmlType,
    "Content-Length": String(Buffer.byteLength(body)),
    Vary: "Accept",
  });
}

/** Like `xml`, but answers with plain text if the client requests it. */
export function xmlOrText(c: Context, root: string, value: XmlValue, text: () => string): Response {
  if (!prefersText(c.req.header("accept"))) return xml(c, root, value);
  const body = text();
  return c.body(body, 200, {
    "Content-Type": "text/plain; charset=utf-8",
    "Content-Length": String(Buffer.byteLength(body)),
    Vary: "Accept",
  });
}

/** The answer for an unknown path, and for a path that exists only in another version of the API. */
export const nothingHere = (c: Context): Response =>
  answerError(c, { code: "unknown_error", message: "There is nothing at this address." }, 404);

/** Answers with an error, in the same form for all versions and entry points. */
export const answerError = (
  c: Context,
  given: { code: RefusalCode; message: string },
  status: ContentfulStatusCode,
): Response => xml(c, error.root, viewOf(error, given, { baseUrl: "", version: { name: "v2" } }), status);
