/**
 * Finds the first place where a value does not match a JSON schema, such as the one that cloud-init publishes for its
 * user data. It supports the keywords that decide names and types, and accepts everything else: with patterns, the
 * schema's author could stop the service. It takes at most `maxSteps` steps.
 */
export function firstFault(root: Schema, value: unknown): SchemaFault | undefined {
  const walk = { root, steps: 0 };
  return deepest(faultsOf(walk, { schema: root, value, path: [] }));
}

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

const maxSteps = 20_000;
const maxDepth = 40;

function faultsOf(walk: Walk, { schema, value, path }: At, depth = 0): SchemaFault[] {
  walk.steps += 1;
  if (!isSchema(schema) || walk.steps > maxSteps || depth > maxDepth) return [];
  const below = (next: unknown, at: { value?: unknown; key?: string | number } = {}) =>
    faultsOf(
      walk,
      { schema: next, value: "key" in at ? at.value : value, path: at.key === undefined ? path : [...path, at.key] },
      depth + 1,
    );
  const wrongType = typeFault(schema, { value, path });
  if (wrongType) return [wrongType];
  const { $ref: reference, enum: values, allOf = [] } = schema;
  return [
    ...(typeof reference === "string" ? below(referred(walk.root, reference)) : []),
    ...(Array.isArray(values) && !values.includes(value)
      ? [{ path, why: "has a value that cloud-init does not accept" }]
      : []),
    ...(Array.isArray(allOf) ? allOf.flatMap((each) => below(each)) : []),
    ...["anyOf", "oneOf"].flatMap((name) => leastWrong(schema[name], below)),
    ...(isMap(value) ? keyFaults(schema, { value, path }, below) : []),
    ...(Array.isArray(value) ? value.flatMap((each, key) => below(schema["items"], { value: each, key })) : []),
  ];
}

type Below = (schema: unknown, at?: { value?: unknown; key?: string | number }) => SchemaFault[];

/**
 * The value must match one of several forms. If it matches none, we assume the form that matches furthest was meant.
 */
function leastWrong(forms: unknown, below: Below): SchemaFault[] {
  if (!Array.isArray(forms) || forms.length === 0) return [];
  const tried = forms.map((form) => below(form));
  if (tried.some((faults) => faults.length === 0)) return [];
  const found = deepest(tried.flat());
  return found ? [found] : [];
}

function keyFaults(schema: Schema, { value, path }: { value: object; path: At["path"] }, below: Below): SchemaFault[] {
  const { properties = {}, patternProperties, additionalProperties, required = [] } = schema;
  const known = isSchema(properties) ? properties : {};
  const isClosed = additionalProperties === false && patternProperties === undefined;
  const absent = Array.isArray(required) ? required.filter((name) => typeof name === "string" && !(name in value)) : [];
  return [
    ...Object.entries(value).flatMap(([key, each]) => {
      if (Object.hasOwn(known, key)) return below(known[key], { value: each, key });
      return isClosed ? [{ path, key, why: "has a key that cloud-init does not accept there" }] : [];
    }),
    ...absent.map((name) => ({ path, why: `lacks ${String(name)}` })),
  ];
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

function typeFault({ type }: Schema, { value, path }: Omit<At, "schema">): SchemaFault | undefined {
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
  if (!reference.startsWith("#/")) return undefined;
  let at: unknown = root;
  for (const name of reference.slice(2).split("/")) at = isSchema(at) && Object.hasOwn(at, name) ? at[name] : undefined;
  return at;
}

function deepest(faults: readonly SchemaFault[]): SchemaFault | undefined {
  const [best] = faults.toSorted((one, other) => depthOf(other) - depthOf(one));
  return best;
}

const depthOf = ({ path, key }: SchemaFault): number => path.length + (key === undefined ? 0 : 1);

const isMap = (value: unknown): value is object => typeof value === "object" && value !== null && !Array.isArray(value);
const isSchema = (value: unknown): value is Schema => isMap(value);
