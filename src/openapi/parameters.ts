import { z } from "zod";
import { flag, id } from "#http/params";
import { scopeOf, type Operation } from "#api/operation";
import { parameterMeanings } from "#openapi/parameter-meanings";
import type { Schema } from "#lib/wire/schema";

export interface Parameter {
  name: string;
  place: "path" | "query" | "header";
  isRequired: boolean;
  meaning: string;
  schema: Schema;
}

/** The parameters of a call: first ids in the path, then those of the call's schema, then headers. */
export function parametersOf(operation: Operation): Parameter[] {
  return [...pathParameters(operation), ...queryParameters(operation), ...headerParameters(operation)];
}

function pathParameters({ path, about = {} }: Operation): Parameter[] {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
  return names.map((name) => ({
    name,
    place: "path",
    isRequired: true,
    meaning: about[name] ?? parameterMeanings[name] ?? "",
    schema: name.endsWith("_id") ? idSchema : { type: "string" },
  }));
}

function queryParameters({ params, about = {} }: Operation): Parameter[] {
  if (params === undefined) return [];
  const { properties = {}, required = [] } = z.toJSONSchema(params, { io: "input" });
  return Object.entries(properties).map(([name, schema]) => ({
    name,
    place: "query",
    isRequired: required.includes(name),
    meaning: about[name] ?? parameterMeanings[name] ?? "",
    schema: typeof schema === "boolean" ? {} : typed(schema),
  }));
}

function headerParameters(operation: Operation): Parameter[] {
  const { method, hasEtag, headers = {} } = operation;
  const own = Object.entries(headers).map(([name, { meaning, isRequired = false }]) => ({
    ...header(name, meaning),
    isRequired,
  }));
  if (method === "POST") return scopeOf(operation) === "read" ? own : [...own, idempotencyKey];
  if (!hasEtag) return own;
  return method === "GET"
    ? [header("If-None-Match", "An ETag that you have. 304 if nothing has changed since.")]
    : [header("If-Match", "The ETag of what you change. 412 if it has changed since."), idempotencyKey];
}

const header = (name: string, meaning: string): Parameter => ({
  name,
  place: "header",
  isRequired: false,
  meaning,
  schema: { type: "string" },
});

const idempotencyKey = header(
  "Idempotency-Key",
  "Any text that you choose. Kiln does a request with the same key only once in 24 hours.",
);

const idSchema: Schema = { type: "integer", format: "int64", minimum: 1 };

/** Replaces two patterns by types, because all parameters arrive as text. */
function typed(schema: Schema): Schema {
  if (schema["pattern"] === idPattern) return idSchema;
  if (schema["pattern"] === flagPattern) return { type: "boolean", default: false };
  return schema;
}

const [idPattern, flagPattern] = [id("invalid_value"), flag].map((one) => z.toJSONSchema(one, { io: "input" }).pattern);
