import type { Refusal } from "#domain/refusal";

/** The field of a form that the domain names by its path in the document, and the sentence for it. */
export function faultIn(
  { code, message }: Refusal,
  fields: readonly { name: string; label: string }[],
): readonly [field: string, sentence: string] | undefined {
  const [, path, why] = /^([\w/]+): (.*)$/s.exec(code === "invalid_value" ? message : "") ?? [];
  if (path === undefined || why === undefined) return undefined;
  const last = path.split("/").at(-1);
  const field = fields.find(({ name }) => name === path) ?? fields.find(({ name }) => name.split("/").at(-1) === last);
  return field && [field.name, /^[A-Z]/.test(why) ? why : `${field.label}: ${why}`];
}
