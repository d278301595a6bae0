import type { Part } from "#lib/wire/shape";

type Asked = Pick<Part, "question" | "range">;

export const unitOf = ({ question, range }: Asked): string => question?.unit ?? range?.unit ?? "";

/** The name of a field as users see it, with its unit. Undefined if no form has the field. */
export function labelOf(part: Asked): string | undefined {
  const unit = unitOf(part);
  return part.question && (unit === "" ? part.question.label : `${part.question.label} in ${unit}`);
}
