import { Buffer } from "node:buffer";
import type { Context } from "hono";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { writeXml, type XmlValue } from "#xml/write";

// Exactly this type: a client matches the text before ";" against application/xml.
const contentType = "application/xml; charset=utf-8";

/** Answers a document with its length, since old clients read keep-alive connections by it. */
export function xml(c: Context, root: string, value: XmlValue, status: ContentfulStatusCode = 200): Response {
  const body = writeXml(root, value);
  return c.body(body, status, { "Content-Type": contentType, "Content-Length": String(Buffer.byteLength(body)) });
}

/** `<success></success>`: no child elements, the Java client rejects any. */
export const success = (c: Context): Response => xml(c, "success", {});
