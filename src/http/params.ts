import type { Context } from "hono";
import { z } from "zod";
import { Refusal, refusalCodes, type RefusalCode } from "#domain/refusal";
import { formFields, mayBeForm } from "#http/form";
import { JsonFault } from "#http/json-fields";
import { MultipartFault } from "#http/multipart";
import { readWhole } from "#http/whole-body";

/** A form of parameters usually has a few hundred bytes. */
export const maxFormBytes = 256 * 1024;

/**
 * Parameters as clients send them: in the query, a form body, multipart fields or a JSON object. If a parameter is in
 * the query and the body, the query wins (compatibility.md, "Parameters"). An empty string counts as absent, so with
 * `?name=` the body's value is used.
 */
export async function readParams(c: Context): Promise<Record<string, string>> {
  return firstOfEach([...queryOf(c), ...(await bodyFields(c))]);
}

/**
 * Like `readParams`, for parameters that may be repeated: `path=/a&path=/b`, or `path[]` as many libraries write it.
 */
export async function readRepeated(
  c: Context,
): Promise<{ first: Record<string, string>; all: (name: string) => string[] }> {
  const sent = [...queryOf(c), ...(await bodyFields(c))];
  const given = sent.map(([name, value]): [string, string] => [name.replace(/\[\]$/, ""), value]);
  const all = (name: string) => given.flatMap(([each, value]) => (each === name && value !== "" ? [value] : []));
  return { first: firstOfEach(given), all };
}

/** The parameters of a call whose body contains none. */
export const readQuery = (c: Context): Record<string, string> => firstOfEach(queryOf(c));

/** The typed parameters. Throws the refusal of the first problem. */
export function parseParams<T extends z.ZodType>(schema: T, values: Record<string, string>): z.output<T> {
  const parsed = schema.safeParse(values);
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const name = String(issue?.path[0] ?? "");
  throw refusalOf(issue?.message ?? "", name);
}

/** An id: a positive decimal integer. The codes are for an invalid and a missing one. */
export const id = (invalid: RefusalCode, missing: RefusalCode = "missing_parameter") =>
  z
    .string({ error: missing })
    .regex(/^[1-9]\d{0,14}$/, invalid)
    .transform(Number);

/** A page number, or the number of entries on a page. */
export const positive = z
  .string()
  .regex(/^0*[1-9]\d{0,8}$/, "invalid_value")
  .transform(Number);

/** A flag: `true`, `1`, `True` … A flag without a value, such as `force=`, counts as absent. */
export const flag = z
  .string({ error: "missing_parameter" })
  .regex(/^(true|false|1|0)$/i, "invalid_value")
  .transform((text) => /^(true|1)$/i.test(text));

/**
 * A short text, such as a name: without control characters, characters that XML cannot contain, and U+FFFD, which
 * replaces invalid UTF-8.
 */
export const text = (missing: RefusalCode = "missing_parameter") =>
  z
    .string({ error: missing })
    .max(255, "invalid_value")
    .regex(/^[^\u0000-\u001f\u007f\ufffd-\uffff]+$/, "invalid_value")
    .refine((value) => value.isWellFormed(), "invalid_value");

/**
 * One of these values. It is only described here: the domain checks it after finding the appliance, and has its own
 * message for it.
 */
export const choice = (values: readonly string[]) => z.string().meta({ enum: values });

export function pathId(c: Context, name: string, code: RefusalCode): number {
  const id = idIn(c, name);
  if (id === undefined) throw new Refusal(code, { reason: "unknown" });
  return id;
}

/** An id from the path. Undefined if the text is not a valid id. */
export function idIn(c: Context, name: string): number | undefined {
  const value = c.req.param(name) ?? "";
  return /^[1-9]\d{0,14}$/.test(value) ? Number(value) : undefined;
}

function refusalOf(message: string, name: string): Refusal {
  const code = refusalCodes.find((known) => known === message) ?? "invalid_value";
  if (code === "missing_parameter") return new Refusal(code, { message: `The parameter ${name} is missing.` });
  if (code === "invalid_value") return new Refusal(code, { message: `The value of ${name} is invalid.` });
  return new Refusal(code);
}

/** The first non-empty value of each name. */
export const firstOfEach = (given: readonly [string, string][]): Record<string, string> =>
  Object.fromEntries(given.filter(([, value]) => value !== "").toReversed());

const queryOf = (c: Context): [string, string][] => [...new URL(c.req.url).searchParams];

async function bodyFields(c: Context): Promise<[string, string][]> {
  const type = c.req.header("content-type") ?? null;
  if (c.req.raw.body === null || !mayBeForm(type)) return [];
  const body = await readWhole(c.req.raw.body, maxFormBytes);
  if (!body) throw new Refusal("invalid_value", { message: "The body is too large for this call." });
  return await formFields(body, type).catch((error: unknown) => {
    if (error instanceof JsonFault) throw refusedJson(error);
    if (!(error instanceof MultipartFault)) throw error;
    throw new Refusal("invalid_value", { message: `The form in the body is damaged: ${error.message}.` });
  });
}

export const refusedJson = ({ message }: JsonFault): Refusal =>
  new Refusal("invalid_value", { message: `${message}.` });
