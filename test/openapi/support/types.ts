import { z } from "zod";
import { imageTypes } from "#lib/contract/index";
import type { Schema } from "#lib/wire/schema";

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

/** The names of named objects, by `keyOf`. */
type Names = ReadonlyMap<string, string>;

/**
 * The TypeScript type for a JSON schema of the API. Lines after the first have this indent. Named inner objects are
 * written by their names.
 */
export function typeOf(schema: Schema, names: Names = new Map(), indent = ""): string {
  const { type, enum: values, const: only, items, properties, required } = Described.parse(schema);
  const words = values ?? (only === undefined ? undefined : [only]);
  if (words?.join() === imageTypes.join()) return "ImageType";
  if (words) return words.map((word) => `"${word}"`).join(" | ");
  if (type === "array") return `readonly ${inParentheses(innerType(items ?? {}, names, indent))}[]`;
  if (type === "object") return objectType(properties ?? {}, { required, names, indent });
  if (type === "integer" || type === "number") return "number";
  return type === "boolean" ? "boolean" : "string";
}

const innerType = (schema: Schema, names: Names, indent: string): string =>
  names.get(keyOf(schema)) ?? typeOf(schema, names, indent);

const inParentheses = (type: string): string => (type.includes(" | ") && !type.startsWith("{") ? `(${type})` : type);

interface Inside {
  required: readonly string[];
  names: Names;
  indent: string;
}

function objectType(properties: Record<string, Schema>, { required, names, indent }: Inside): string {
  const inner = `${indent}  `;
  const lines = Object.entries(properties).map(
    ([name, schema]) => `${inner}${name}${required.includes(name) ? "" : "?"}: ${innerType(schema, names, inner)};`,
  );
  return ["{", ...lines, `${indent}}`].join("\n");
}

/** The same for objects of the same type. */
const keyOf = (schema: Schema): string => typeOf(schema);

/**
 * The position of an object: the object that contains it, and the names that lead to it, starting with the document's.
 */
interface Found {
  key: string;
  schema: Schema;
  outer: string;
  path: readonly string[];
}

function objectsIn(schema: Schema, path: readonly string[]): Found[] {
  const outer = keyOf(schema);
  const { properties = {} } = Described.parse(schema);
  return Object.entries(properties).flatMap(([name, member]) => {
    const { items } = Described.parse(member);
    const inner = items ?? member;
    const innerPath = [...path, items ? singular(name) : name];
    const own = { key: keyOf(inner), schema: inner, outer, path: innerPath };
    return Described.parse(inner).properties ? [own, ...objectsIn(inner, innerPath)] : [];
  });
}

const singular = (name: string): string => name.replace(/ies$/, "y").replace(/s$/, "");

/** Interfaces for documents, and for each object that several others contain. */
export function interfacesOf(documents: ReadonlyMap<string, Schema>): string[] {
  const found = [...documents].flatMap(([name, schema]) => objectsIn(schema, [name]));
  const named = new Map(documents);
  const names = new Map<string, string>();
  for (const [key, places] of Map.groupBy(found, (each) => each.key)) {
    const [first] = places;
    if (!first || new Set(places.map(({ outer, path }) => `${outer} ${path.at(-1)}`)).size === 1) continue;
    const name = freeName(places, named);
    names.set(key, name);
    named.set(name, first.schema);
  }
  return [...named]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, schema]) => `interface ${name} ${typeOf(schema, names)}`);
}

/**
 * The member's name. Includes the names around it if the member differs between places, or if another type has the
 * name.
 */
function freeName(places: readonly Found[], taken: ReadonlyMap<string, unknown>): string {
  const { path } = places[0] as Found;
  let length = new Set(places.map((place) => place.path.at(-1))).size > 1 ? 2 : 1;
  const name = () => path.slice(-length).map(capitalised).join("");
  while (taken.has(name()) && length < path.length) length += 1;
  return name();
}

const capitalised = (name: string): string =>
  name.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
