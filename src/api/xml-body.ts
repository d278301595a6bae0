import { Refusal } from "#domain/refusal";
import { maxXmlBytes, readXml, type XmlNode } from "#wire/read-xml";

/** The document that a client sent as its body; what is longer than any of ours is not read to its end. */
export async function readXmlBody(request: Request): Promise<XmlNode> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > maxXmlBytes) throw new Refusal("invalid_xml", { message: "The XML is too large." });
    chunks.push(chunk);
  }
  try {
    return readXml(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks)));
  } catch (error) {
    if (error instanceof TypeError) throw new Refusal("invalid_xml", { message: "The body is not UTF-8." });
    throw error;
  }
}
