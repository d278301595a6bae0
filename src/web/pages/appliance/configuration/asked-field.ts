import { labelOf } from "#lib/wire/question";
import type { AnyShape, Fields, Part, Question } from "#lib/wire/shape";
import type { FormField } from "./form-field.tsx";
import { keyboardList, languageList, timeZoneList } from "./pick-lists.ts";

/** The form field for a configuration field, from its question (src/lib/configuration/document.ts). */
export function askedField(name: string, part: Part): FormField {
  const { shape, question } = part;
  const label = labelOf(part);
  if (!question || label === undefined) throw new Error(`${name} has no question`);
  const { hint, entered, options, usedWith, ofBase } = question;
  return {
    name,
    label,
    ...(options ? { kind: "choice", options } : wayFor(shape, entered)),
    ...(hint !== undefined && { hint }),
    ...(usedWith !== undefined && { usedWith }),
    ...(ofBase !== undefined && { ofBase }),
  };
}

/** The question about a field of a list's entries. */
export function askedOf({ fields }: Fields, name: string): FormField {
  const part = fields[name];
  if (!part) throw new Error(`there is no field ${name}`);
  return askedField(name, part);
}

type Way = Pick<FormField, "kind" | "options" | "picks">;

const ways: Readonly<Record<string, Way>> = {
  keyboard: { kind: "choice", options: keyboardList() },
  language: { kind: "pick", picks: languageList },
  "time zone": { kind: "pick", picks: timeZoneList },
  lines: { kind: "lines" },
  list: { kind: "list" },
  ports: { kind: "ports" },
  script: { kind: "script" },
};

function wayFor(shape: AnyShape, entered: Question["entered"]): Way {
  const way = entered === undefined ? { kind: usualKind(shape) } : ways[entered];
  if (!way) throw new Error(`no form field is for ${entered}`);
  return way;
}

function usualKind(shape: AnyShape): FormField["kind"] {
  if (shape.kind === "list") return usualKind(shape.of);
  if (shape.kind !== "leaf") throw new Error("only a single value has a form field");
  if (shape.isSecret) return "password";
  if (shape.schema.type === "boolean") return "switch";
  if (shape.schema.type === "integer") return "number";
  return shape.isLong ? "lines" : "line";
}
