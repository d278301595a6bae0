import { Refusal } from "#domain/refusal";
import { readDocument } from "#wire/read";
import { readJson } from "#wire/read-json";
import { maxXmlBytes, readXml } from "#wire/read-xml";
import type { Document } from "#wire/shape";

/** Reads the document in a client's body, in XML or JSON. A body that is longer than any of ours is not read to its end. */
export async function readDocumentBody<C>(document: Document<never, C>, request: Request): Promise<C> {
  const text = await textOf(request);
  // XML cannot begin so, whatever its type says.
  const node = /^\s*\{/.test(text) ? readJson(document, text) : readXml(text);
  return readDocument(document, node);
}

async function textOf(request: Request): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > maxXmlBytes) throw new Refusal("invalid_xml", { message: "The XML or JSON is too large." });
    chunks.push(chunk);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
  } catch (error) {
    if (error instanceof TypeError) throw new Refusal("invalid_xml", { message: "The body is not UTF-8." });
    throw error;
  }
}
