/** A JSON schema for OpenAPI 3.1. */
export interface Schema {
  [keyword: string]: unknown;
}

/** Properties of an object, and whether each may be missing. */
export type Properties = Record<string, { schema: Schema; isOptional: boolean }>;

export function objectOf(properties: Properties): Schema {
  const named = Object.entries(properties);
  const required = named.filter(([, { isOptional }]) => !isOptional).map(([name]) => name);
  return {
    type: "object",
    properties: Object.fromEntries(named.map(([name, { schema }]) => [name, schema])),
    ...(required.length > 0 && { required }),
  };
}
