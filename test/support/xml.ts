import { XMLParser } from "fast-xml-parser";
import { expect } from "vitest";

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: "@",
  parseTagValue: false,
  parseAttributeValue: false,
});

/**
 * Nested objects, with `@name` for attributes. All values are text. Tests compare them as a whole, so the type stays
 * open.
 */
// oxlint-disable-next-line typescript/no-explicit-any -- each test knows the document that it expects
export type XmlDocument = Record<string, any>;

/** Reads an XML answer, and checks everything that all answers must have. */
export async function readXml(answer: Response): Promise<XmlDocument> {
  expect(answer.headers.get("content-type")).toBe("application/xml; charset=utf-8");
  const text = await answer.text();
  expect(text.endsWith("\n")).toBe(true);
  return parser.parse(text);
}

/** Expects an error document with exactly this status and code. Returns its message. */
export async function expectError(answer: Response, status: number, code: string, request?: string): Promise<string> {
  const document = await readXml(answer);
  expect({ status: answer.status, code: document.error?.code }, request).toEqual({ status, code });
  expect(Object.keys(document.error), request).toEqual(["code", "message"]);
  expect(document.error.message, request).toMatch(/\S/);
  return document.error.message;
}
