import { isJson, jsonFields } from "./json-fields.ts";
import { boundaryOf, partsOf } from "./multipart.ts";

/** The maximum size of a form in bytes, without its file. */
export const formBytes = 64 * 1024;

/** Whether a body of this type may contain parameters. Shell clients also send them without a type. */
export const mayBeForm = (contentType: string | null): boolean =>
  contentType === null ||
  contentType.trim() === "" ||
  isUrlEncoded(contentType) ||
  isMultipart(contentType) ||
  isJson(contentType);

/**
 * The parameters of a call in the text fields of a body, in their order. Returns none for other bodies, because clients
 * also send XML with the type of a form (compatibility.md, "Bodies"). Recognises JSON by its first character too,
 * because curl sends `-d` with the type of a form. Throws a MultipartFault for a damaged form, and a JsonFault for JSON
 * that is not an object of parameters.
 */
export async function formFields(
  body: Uint8Array<ArrayBuffer>,
  contentType: string | null,
): Promise<[name: string, value: string][]> {
  if (body.byteLength === 0) return [];
  const boundary = boundaryOf(contentType);
  if (boundary !== undefined) return await partFields(body, boundary);
  const text = new TextDecoder().decode(body).replace(/[\r\n]+$/, "");
  if (isJson(contentType) || /^\s*\{/.test(text)) return jsonFields(text);
  const isForm = isUrlEncoded(contentType ?? "") ? !/^\s*</.test(text) : /^[\w.%+[\]-]+=/.test(text);
  return isForm ? [...new URLSearchParams(text)] : [];
}

async function partFields(body: Uint8Array<ArrayBuffer>, boundary: string): Promise<[string, string][]> {
  const stream = new Blob([body]).stream();
  const fields: [string, string][] = [];
  for await (const { name, body: part } of partsOf(stream, boundary)) {
    if (name !== undefined && name !== "file") fields.push([name, await new Response(part).text()]);
  }
  return fields;
}

const isUrlEncoded = (contentType: string) => /^\s*application\/x-www-form-urlencoded\b/i.test(contentType);

const isMultipart = (contentType: string) => /^\s*multipart\/form-data\b/i.test(contentType);
