import type { Context } from "hono";
import { z } from "zod";
import { Refusal, refusalCodes, type RefusalCode } from "#domain/refusal";

const maxFormBytes = 256 * 1024;

/**
 * Parameters as clients send them: in the query, as a form body, as multipart fields, or in two places at once; the
 * query wins (wire.md §1.6). An empty string is an absent parameter.
 */
export async function readParams(c: Context): Promise<Record<string, string>> {
  const given = [...Object.entries(await bodyFields(c)), ...Object.entries(c.req.query())];
  return Object.fromEntries(given.filter(([, value]) => value !== ""));
}

/** The typed parameters, or the refusal that the first complaint names. */
export function parseParams<T extends z.ZodType>(schema: T, values: Record<string, string>): z.output<T> {
  const parsed = schema.safeParse(values);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const name = String(issue?.path[0] ?? "");
  throw refusalOf(issue?.message ?? "", name);
}

/** An id: a decimal positive integer. The codes are what its absence and its nonsense are called. */
export const id = (invalid: RefusalCode, missing: RefusalCode = "missing_parameter") =>
  z
    .string({ error: missing })
    .regex(/^[1-9]\d{0,14}$/, invalid)
    .transform(Number);

/** `true`, `1`, `True` … and for `force=` with nothing behind it: absent. */
export const flag = z
  .string()
  .regex(/^(true|false|1|0)$/i, "invalid_value")
  .transform((text) => /^(true|1)$/i.test(text));

/** A name or another short text without control characters. */
export const text = (missing: RefusalCode = "missing_parameter") =>
  z
    .string({ error: missing })
    .max(255, "invalid_value")
    .regex(/^[^\u0000-\u001f\u007f]+$/, "invalid_value");

/** An id in the path. */
export function pathId(c: Context, name: string, code: RefusalCode): number {
  const value = c.req.param(name) ?? "";
  if (!/^[1-9]\d{0,14}$/.test(value)) throw new Refusal(code, { in: "path" });
  return Number(value);
}

function refusalOf(message: string, name: string): Refusal {
  const code = refusalCodes.find((known) => known === message) ?? "invalid_value";
  if (code === "missing_parameter") return new Refusal(code, { message: `The parameter ${name} is missing.` });
  if (code === "invalid_value") return new Refusal(code, { message: `The value of ${name} cannot be used.` });
  return new Refusal(code);
}

async function bodyFields(c: Context): Promise<Record<string, string>> {
  const type = (c.req.header("content-type") ?? "").toLowerCase();
  const isForm = type.startsWith("application/x-www-form-urlencoded") || type.startsWith("multipart/form-data");
  if (!isForm || c.req.raw.body === null) return {};
  const bytes = await cappedBody(c.req.raw.body);
  if (bytes.byteLength === 0) return {};
  const form = await new Response(bytes, { headers: { "content-type": c.req.header("content-type") ?? "" } })
    .formData()
    .catch(() => {
      throw new Refusal("invalid_value", { message: "The body is not the form that its Content-Type says." });
    });
  return Object.fromEntries([...form].filter((entry): entry is [string, string] => typeof entry[1] === "string"));
}

/** Reads at most `maxFormBytes`; forms of the calls that take parameters are a few hundred bytes. */
async function cappedBody(body: ReadableStream<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > maxFormBytes) throw new Refusal("invalid_value", { message: "The body is too large for this call." });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
