/**
 * Finds the first place where a value does not match a JSON schema, such as the one that cloud-init publishes for its
 * user data. It supports the keywords that decide names and types, and accepts everything else: with patterns, the
 * schema's author could stop the service. It takes at most `maxSteps` steps.
 */
export const firstFault = (root: Schema, value: unknown): SchemaFault | undefined =>
  faultIn({ root, steps: 0 }, { schema: root, value, path: [] });

export interface SchemaFault {
  /** The names (known to the schema) and numbers that lead to the value from the root. */
  path: (string | number)[];
  /** The wrong key in the value. */
  key?: string;
  /** The end of a sentence, such as "must be a list". It contains no part of the value. */
  why: string;
}

/** A schema, or what its author wrote in its place. */
export type Schema = Readonly<Record<string, unknown>>;

interface Walk {
  root: Schema;
  steps: number;
}

interface At {
  schema: unknown;
  value: unknown;
  path: (string | number)[];
}

/** Every entry of the schema that is compared with a value is a step. */
const maxSteps = 20_000;
const maxDepth = 40;
const maxReferenceLength = 1000;

/** The deepest fault, and the first among equally deep ones. Only one is kept, because a schema could make millions. */
function faultIn(walk: Walk, { schema, value, path }: At, depth = 0): SchemaFault | undefined {
  if (!isSchema(schema) || !mayGoOn(walk, 1) || depth > maxDepth) return undefined;
  const below: Below = (next, at = {}) =>
    faultIn(
      walk,
      { schema: next, value: "key" in at ? at.value : value, path: at.key === undefined ? path : [...path, at.key] },
      depth + 1,
    );
  const wrongType = typeFault(walk, schema, { value, path });
  if (wrongType) return wrongType;
  const { $ref: reference, enum: values, allOf } = schema;
  const faults = [
    typeof reference === "string" ? below(referred(walk.root, reference)) : undefined,
    isOneOf(walk, values, value) ? undefined : { path, why: "has a value that cloud-init does not accept" },
    deepestOf(listOf(allOf), (each) => below(each)),
    leastWrong(schema["anyOf"], below),
    leastWrong(schema["oneOf"], below),
    isMap(value) ? keyFault(walk, { schema, value, path }, below) : undefined,
    Array.isArray(value)
      ? deepestOf(value.entries(), ([key, each]) => below(schema["items"], { value: each, key }))
      : undefined,
  ];
  return deepestOf(faults, (fault) => fault);
}

/** Counts steps. False if there were too many; then whatever is left counts as correct. */
function mayGoOn(walk: Walk, steps: number): boolean {
  walk.steps += steps;
  return walk.steps <= maxSteps;
}

const listOf = (given: unknown): unknown[] => (Array.isArray(given) ? given : []);

function isOneOf(walk: Walk, values: unknown, value: unknown): boolean {
  return !Array.isArray(values) || !mayGoOn(walk, values.length) || values.includes(value);
}

type Below = (schema: unknown, at?: { value?: unknown; key?: string | number }) => SchemaFault | undefined;

/**
 * The value must match one of several forms. If it matches none, we assume the form that matches furthest was meant.
 */
function leastWrong(forms: unknown, below: Below): SchemaFault | undefined {
  let found: SchemaFault | undefined;
  for (const form of listOf(forms)) {
    const fault = below(form);
    if (!fault) return undefined;
    found = deeper(found, fault);
  }
  return found;
}

function keyFault(
  walk: Walk,
  { schema, value, path }: { schema: Schema; value: object; path: At["path"] },
  below: Below,
): SchemaFault | undefined {
  const { properties = {}, patternProperties, additionalProperties, required } = schema;
  const known = isSchema(properties) ? properties : {};
  const isClosed = additionalProperties === false && patternProperties === undefined;
  const wrong = deepestOf(Object.entries(value), ([key, each]) => {
    if (Object.hasOwn(known, key)) return below(known[key], { value: each, key });
    return isClosed ? { path, key, why: "has a key that cloud-init does not accept there" } : undefined;
  });
  if (!mayGoOn(walk, listOf(required).length)) return wrong;
  const absent = listOf(required).find((name) => typeof name === "string" && !(name in value));
  return deeper(wrong, absent === undefined ? undefined : { path, why: `lacks ${String(absent)}` });
}

const typeNames: Readonly<Record<string, string>> = {
  object: "a map",
  array: "a list",
  string: "text",
  boolean: "true or false",
  integer: "a whole number",
  number: "a number",
  null: "empty",
};

function typeFault(walk: Walk, { type }: Schema, { value, path }: Omit<At, "schema">): SchemaFault | undefined {
  if (!mayGoOn(walk, listOf(type).length)) return undefined;
  const types = [type].flat().filter((name) => typeof name === "string" && Object.hasOwn(typeNames, name)) as string[];
  if (types.length === 0 || types.some((name) => hasType(name, value))) return undefined;
  return { path, why: `must be ${types.map((name) => typeNames[name]).join(" or ")}` };
}

function hasType(name: string, value: unknown): boolean {
  if (name === "object") return isMap(value);
  if (name === "array") return Array.isArray(value);
  if (name === "integer") return Number.isInteger(value);
  return name === "null" ? value === null : typeof value === name;
}

/** `#/$defs/users_groups.user` in the root. */
function referred(root: Schema, reference: string): unknown {
  if (!reference.startsWith("#/") || reference.length > maxReferenceLength) return undefined;
  let at: unknown = root;
  for (const name of reference.slice(2).split("/")) at = isSchema(at) && Object.hasOwn(at, name) ? at[name] : undefined;
  return at;
}

/** The deepest fault of these items. */
function deepestOf<T>(items: Iterable<T>, faultOf: (item: T) => SchemaFault | undefined): SchemaFault | undefined {
  let found: SchemaFault | undefined;
  for (const item of items) found = deeper(found, faultOf(item));
  return found;
}

const deeper = (one: SchemaFault | undefined, other: SchemaFault | undefined): SchemaFault | undefined =>
  one && (!other || depthOf(one) >= depthOf(other)) ? one : other;

const depthOf = ({ path, key }: SchemaFault): number => path.length + (key === undefined ? 0 : 1);

const isMap = (value: unknown): value is object => typeof value === "object" && value !== null && !Array.isArray(value);
const isSchema = (value: unknown): value is Schema => isMap(value);
