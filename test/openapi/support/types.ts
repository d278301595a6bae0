import { z } from "zod";
import type { Schema } from "#wire/schema";

export interface Member {
  name: string;
  isOptional: boolean;
  type: string;
}

const Described = z.object({
  type: z.string().optional(),
  enum: z.array(z.string()).optional(),
  const: z.string().optional(),
  items: z.record(z.string(), z.unknown()).optional(),
  properties: z.record(z.string(), z.record(z.string(), z.unknown())).optional(),
  required: z.array(z.string()).default([]),
});

/** The TypeScript type of what a JSON schema of the API describes; lines after the first have this indent. */
export function typeOf(schema: Schema, indent = ""): string {
  const { type, enum: values, const: only, items, properties, required } = Described.parse(schema);
  const words = values ?? (only === undefined ? undefined : [only]);
  if (words) return words.map((word) => `"${word}"`).join(" | ");
  if (type === "array") return `readonly ${inParentheses(typeOf(items ?? {}, indent))}[]`;
  if (type === "object") return objectType(properties ?? {}, required, indent);
  if (type === "integer" || type === "number") return "number";
  return type === "boolean" ? "boolean" : "string";
}

const inParentheses = (type: string): string => (type.includes(" | ") && !type.startsWith("{") ? `(${type})` : type);

function objectType(properties: Record<string, Schema>, required: readonly string[], indent: string): string {
  const inner = `${indent}  `;
  const lines = Object.entries(properties).map(
    ([name, schema]) => `${inner}${name}${required.includes(name) ? "" : "?"}: ${typeOf(schema, inner)};`,
  );
  return ["{", ...lines, `${indent}}`].join("\n");
}
