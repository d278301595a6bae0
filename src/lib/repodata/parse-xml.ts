import { XMLParser } from "fast-xml-parser";
import { RepodataFault } from "./fault.ts";

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: "@",
  parseTagValue: false, // keeps a revision of "007"
  parseAttributeValue: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
  htmlEntities: true, // decodes &#65; too
});

/**
 * Parses a short XML document into plain values: an attribute is `@name`, text next to attributes is `#text`. The
 * caller limits its size. Refuses a DOCTYPE (and so every entity bomb), encodings other than UTF-8, malformed XML and
 * any other root element.
 */
export function parseXml(bytes: Uint8Array, root: string, what: string): unknown {
  const fault = (why: string, cause?: unknown) =>
    new RepodataFault("malformed_metadata", `${what}: ${why}`, cause === undefined ? {} : { cause });
  const text = utf8(bytes);
  if (text === undefined) throw fault("is not UTF-8");
  if (/<!DOCTYPE/i.test(text)) throw fault("has a DOCTYPE, which metadata never needs");
  let document: Record<string, unknown>;
  try {
    document = parser.parse(text, true);
  } catch (error) {
    throw fault("is not well-formed XML", error); // also for a name like __proto__
  }
  const roots = Object.keys(document);
  if (roots.length !== 1 || roots[0] !== root || Array.isArray(document[root]))
    throw fault(`has a different root element than <${root}>`);
  return document[root];
}

function utf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    return undefined;
  }
}
