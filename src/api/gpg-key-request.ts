import type { Context } from "hono";
import { gpgKeyTooLarge } from "#domain/contents/gpg-key";
import { Refusal } from "#domain/refusal";
import { isJson, JsonFault, jsonFields } from "#http/json-fields";
import { readWhole } from "#http/whole-body";
import { readQuery, refusedJson } from "#http/params";

/** The parameters of a request to add a key, and the key, wherever the request contains it. */
export interface KeyRequest {
  params: Record<string, string>;
  key: Uint8Array;
}

/** A key and the form around it. In a form, each byte of the key may take three bytes. */
const maxBodyBytes = 768 * 1024 + 64 * 1024;

/**
 * Reads the parameters from the query and from a form or JSON, as every call does. The key is a parameter, the field
 * `file`, or the body itself. One client sends armour as its body but declares a form (compatibility.md, "GPG keys"),
 * so the first bytes of the body decide.
 */
export async function readKeyRequest(c: Context): Promise<KeyRequest> {
  const query = readQuery(c);
  const body = await readBody(c.req.raw.body);
  const contentType = c.req.header("content-type") ?? "";
  if (!isForm(contentType) || isKey(body)) return { params: query, key: keyOf(query) ?? body };
  const form = await readForm(body, contentType);
  const params = { ...given(form.fields), ...query };
  return { params, key: keyOf(params) ?? form.file ?? new Uint8Array() };
}

const isMultipart = (contentType: string): boolean => /^\s*multipart\//i.test(contentType);

async function readBody(body: ReadableStream<Uint8Array> | null): Promise<Uint8Array> {
  if (body === null) return new Uint8Array();
  const bytes = await readWhole(body, maxBodyBytes);
  if (!bytes) throw gpgKeyTooLarge();
  return bytes;
}

const isForm = (contentType: string): boolean =>
  isJson(contentType) || /^\s*(application\/x-www-form-urlencoded|multipart\/form-data)\b/i.test(contentType);

/**
 * Whether the body is armour, or an OpenPGP packet, whose first bit is set (RFC 9580, section 4.2). No form begins like
 * that.
 */
const isKey = (body: Uint8Array): boolean =>
  (body[0] ?? 0) >= 0x80 || /^\s*-----BEGIN PGP /.test(new TextDecoder().decode(body.subarray(0, 1024)));

async function readForm(
  body: Uint8Array,
  contentType: string,
): Promise<{ fields: [string, string][]; file: Uint8Array | undefined }> {
  if (body.byteLength === 0) return { fields: [], file: undefined };
  if (isJson(contentType) || /^\s*\{/.test(new TextDecoder().decode(body.subarray(0, 1024)))) {
    return { fields: readJson(body), file: undefined };
  }
  const form = await new Response(body, { headers: { "content-type": contentType } }).formData().catch(() => {
    throw new Refusal("invalid_key", { message: "The body does not match its Content-Type." });
  });
  const fields = [...form].filter((entry): entry is [string, string] => typeof entry[1] === "string");
  // Clients write every line break of a multipart field as CRLF.
  const lines = (text: string) => (isMultipart(contentType) ? text.replaceAll("\r\n", "\n") : text);
  const file = form.get("file");
  const written = fields.map(([name, value]): [string, string] => [name, lines(value)]);
  if (file === null) return { fields: written, file: undefined };
  return { fields: written, file: typeof file === "string" ? bytesOf(lines(file)) : await file.bytes() };
}

function readJson(body: Uint8Array): [string, string][] {
  try {
    return jsonFields(new TextDecoder().decode(body));
  } catch (error) {
    throw error instanceof JsonFault ? refusedJson(error) : error;
  }
}

/** An empty value is an absent parameter (compatibility.md, "Parameters"). */
const given = (values: [string, string][]): Record<string, string> =>
  Object.fromEntries(values.filter(([, value]) => value !== ""));

const keyOf = ({ key }: Record<string, string>): Uint8Array | undefined =>
  key === undefined ? undefined : bytesOf(withPluses(key));

/** If a client does not encode its key, each plus arrives as a space. The lines of armour contain no other spaces. */
const withPluses = (armour: string): string =>
  armour.replace(/^[A-Za-z0-9/= ]+$/gm, (line) => {
    const whole = line.replaceAll(" ", "+");
    // The length of base64 is a multiple of four. If it is not, the spaces at the end are real spaces.
    return /^=?(.{4})*$/.test(whole) ? whole : line.trimEnd().replaceAll(" ", "+");
  });

const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);
