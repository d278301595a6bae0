import published from "./schema.json" with { type: "json" };

/** The path of a value: member names and item indexes. */
export type Path = readonly (string | number)[];

/** A violation of the schema. */
export interface Fault {
  path: Path;
  why: string;
}

/** The part of JSON Schema that the published schema uses. */
export interface Schema {
  type: string | readonly string[];
  properties?: Readonly<Record<string, Schema>>;
  required?: readonly string[];
  items?: Schema;
  enum?: readonly string[];
  pattern?: string;
  minimum?: number;
  maximum?: number;
  examples?: readonly unknown[];
}

export const applianceSchema: Schema = published;

/** All violations of the schema by a value, in the order of the value. Unknown members are errors. */
export function faultsIn(schema: Schema, value: unknown, path: Path = []): Fault[] {
  const type = typeIn(schema, value);
  if (type === undefined) return [{ path, why: wrongType(schema, value) }];
  if (Array.isArray(value))
    return value.flatMap((one, index) => faultsIn(schema.items ?? anything, one, [...path, index]));
  if (isMapping(value)) return memberFaults(schema, value, path);
  const why = type === "string" ? wrongText(schema, String(value)) : wrongNumber(schema, value);
  return why === undefined ? [] : [{ path, why }];
}

const anything: Schema = { type: ["string", "integer", "boolean", "object", "array"] };

export const isMapping = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const types: Readonly<Record<string, { is: (value: unknown) => boolean; words: string }>> = {
  string: { is: (value) => typeof value === "string", words: "text" },
  integer: { is: Number.isSafeInteger, words: "a whole number" },
  boolean: { is: (value) => typeof value === "boolean", words: "true or false" },
  array: { is: Array.isArray, words: "a list" },
  object: { is: isMapping, words: "a mapping" },
};

const typesOf = ({ type }: Schema): readonly string[] => (typeof type === "string" ? [type] : type);

const typeIn = (schema: Schema, value: unknown): string | undefined =>
  typesOf(schema).find((type) => types[type]?.is(value));

function wrongType(schema: Schema, value: unknown): string {
  const all = typesOf(schema);
  if (value === null) return "has no value";
  if (all.includes("string") && typeof value !== "object") return `must be text: write it as "${String(value)}"`;
  const reference = Object.keys(schema.properties ?? {});
  if (all.includes("object") && reference.length === 1) {
    const given = `{ ${reference[0]}: … }`;
    return all.includes("string") ? `must be text, or ${given}` : `must be ${given}`;
  }
  return `must be ${all.map((type) => types[type]?.words ?? type).join(" or ")}`;
}

function memberFaults({ properties = {}, required = [] }: Schema, value: Record<string, unknown>, path: Path): Fault[] {
  const missing = required.filter((name) => !Object.hasOwn(value, name));
  return [
    ...Object.entries(value).flatMap(([name, member]) => {
      const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (schema) return faultsIn(schema, member, [...path, name]);
      return [{ path: [...path, name], why: unknownKey(name, Object.keys(properties)) }];
    }),
    ...missing.map((name) => ({ path, why: `needs ${name}` })),
  ];
}

function unknownKey(name: string, known: readonly string[]): string {
  const near = closest(name, known);
  return `is not a known key. ${near === undefined ? `Known keys: ${known.join(", ")}` : `Did you mean ${near}?`}`;
}

function wrongText({ enum: words, pattern, examples = [] }: Schema, text: string): string | undefined {
  if (words && !words.includes(text)) return `must be one of ${words.join(", ")}`;
  if (pattern === undefined || new RegExp(pattern).test(text)) return undefined;
  return examples.length > 0 ? `must be like ${String(examples[0])}` : `must match ${pattern}`;
}

function wrongNumber({ minimum = -Infinity, maximum = Infinity }: Schema, value: unknown): string | undefined {
  const isInside = typeof value !== "number" || (value >= minimum && value <= maximum);
  return isInside ? undefined : `must be ${minimum} to ${maximum}`;
}

/** The most similar of the words, if it is similar enough to be the intended one. */
export function closest(given: string, words: readonly string[]): string | undefined {
  const ranked = words.map((word) => ({ word, distance: distanceBetween(given.toLowerCase(), word) }));
  const [best] = ranked.toSorted((a, b) => a.distance - b.distance);
  return best && best.distance <= Math.max(1, Math.floor(given.length / 3)) ? best.word : undefined;
}

/** How many letters must be added, removed or replaced (Levenshtein). */
function distanceBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...one].entries()) {
    const next = [i + 1];
    for (let j = 0; j < other.length; j++) {
      const replaced = (row[j] ?? 0) + (letter === other[j] ? 0 : 1);
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
