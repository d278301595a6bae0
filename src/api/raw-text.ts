import { Refusal } from "#domain/refusal";
import { readWhole } from "#http/whole-body";

const maxTextBytes = 64 * 1024;

/**
 * The body as it is, whatever its content type claims: clients send release notes and comments as "forms", and `&`, `=`,
 * `+` and `%` belong to the text (wire.md §5.2).
 */
export async function readRawText({ body }: Request): Promise<string> {
  if (body === null) return "";
  const bytes = await readWhole(body, maxTextBytes);
  if (bytes === undefined) throw tooLong();
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes).replace(unwritable, "");
  } catch {
    throw new Refusal("invalid_value", { message: "The text is not UTF-8." });
  }
}

const tooLong = () => new Refusal("invalid_value", { message: "The text is longer than 64 KiB." });

/** The same limit for a text that came in a form. */
export function refuseLongText(text: string): void {
  if (new TextEncoder().encode(text).byteLength > maxTextBytes) throw tooLong();
}

/** XML has no way to say these. */
export const unwritable = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;
