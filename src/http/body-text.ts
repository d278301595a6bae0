import { Refusal } from "#domain/refusal";
import { readWhole, utf8Of } from "#http/whole-body";
import { rest } from "#lib/loop/pace";
import { readDocument } from "#lib/wire/read";
import { readJson } from "#lib/wire/read-json";
import { maxXmlBytes, readXml } from "#lib/wire/read-xml";
import type { Document } from "#lib/wire/shape";

/** Reads the document in a client's body, in XML or JSON. If a body is too long, the rest is not read. */
export async function readDocumentBody<C>(document: Document<never, C>, { body }: Request): Promise<C> {
  const bytes = body ? await readWhole(body, maxXmlBytes) : new Uint8Array();
  if (!bytes) throw new Refusal("invalid_xml", { message: "The XML or JSON is too large." });
  const text = utf8Of(bytes);
  if (text === undefined) throw new Refusal("invalid_xml", { message: "The body is not UTF-8." });
  // XML cannot begin with a brace, whatever the content type is.
  const node = /^\s*\{/.test(text) ? readJson(document, text) : readXml(text);
  await rest();
  return readDocument(document, node);
}

const maxTextBytes = 64 * 1024;

/**
 * The body as it is, whatever its content type claims: clients send release notes and comments as "forms", and `&`, `=`,
 * `+` and `%` belong to the text (compatibility.md, "Bodies").
 */
export async function readRawText({ body }: Request): Promise<string> {
  if (body === null) return "";
  const bytes = await readWhole(body, maxTextBytes);
  if (!bytes) throw tooLong();
  const text = utf8Of(bytes);
  if (text === undefined) throw new Refusal("invalid_value", { message: "The text is not UTF-8." });
  return text.replace(unwritable, "");
}

const tooLong = () => new Refusal("invalid_value", { message: "The text is longer than 64 KiB." });

/** Applies the same limit to a text from a form. */
export function refuseLongText(text: string): void {
  if (new TextEncoder().encode(text).byteLength > maxTextBytes) throw tooLong();
}

/** XML cannot contain these characters. */
export const unwritable = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;
