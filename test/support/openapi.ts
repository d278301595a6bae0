import { expect } from "vitest";
import { z } from "zod";
import { visit } from "./client.ts";
import { nameOf, xmlNodes, type XmlNode } from "./xml-nodes.ts";

/** The part of JSON schema that the API's description uses. */
interface Schema {
  type?: "object" | "array" | "string" | "integer" | "number" | "boolean";
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  enum?: unknown[];
  pattern?: string;
  format?: string;
  "x-text"?: true;
  xml?: { name?: string; attribute?: true };
}

const Media = z.object({ schema: z.object({ $ref: z.string().optional() }).optional() });
const Description = z.object({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.object({ responses: z.record(z.string(), z.object({ content: z.record(z.string(), Media).optional() })) }),
    ),
  ),
  components: z.object({ schemas: z.record(z.string(), z.custom<Schema>()) }),
});

let description: Promise<z.infer<typeof Description>> | undefined;

const describedApi = () =>
  (description ??= visit("/api/openapi.json").then(async (answer) => Description.parse(await answer.json())));

interface Call {
  method: string;
  /** The path as in the description: `/builds/{build_id}`. */
  path: string;
  version: "v1" | "v2";
  /** Default: 200. */
  status?: number;
}

/** Expects a successful answer, XML or JSON, to match the description of its call. */
export async function expectAsDescribed(
  { method, path, version, status = 200 }: Call,
  type: string,
  body: string,
): Promise<void> {
  const { paths, components } = await describedApi();
  const response = paths[`/api/${version}/user${path}`]?.[method.toLowerCase()]?.responses[String(status)];
  expect(response).toBeDefined();
  const content = response?.content;
  if (type === "" && content === undefined) return; // an answer without a body
  const described = content?.[type.replace(/;.*/, "")];
  expect(Object.keys(content ?? {})).toContain(type.replace(/;.*/, ""));
  const name = described?.schema?.$ref?.replace(/^.*\//, "");
  if (name === undefined) return; // a file
  const schema = components.schemas[name] ?? {};
  const value: unknown = type.startsWith("application/json") ? JSON.parse(body) : valueOfXml(body, schema);
  expect(complaints(value, schema, name)).toEqual([]);
}

/** Lists the faults of a value, including properties that the schema does not name. */
export function complaints(value: unknown, schema: Schema, at: string): string[] {
  if (schema.type === "object") return objectComplaints(value, schema, at);
  if (schema.type === "array") {
    if (!Array.isArray(value)) return [`${at} is no array`];
    return value.flatMap((item, index) => complaints(item, schema.items ?? {}, `${at}[${index}]`));
  }
  const wrong = [
    schema.type === "integer" ? !Number.isInteger(value) : typeof value !== schema.type,
    schema.enum !== undefined && !schema.enum.includes(value),
    schema.pattern !== undefined && !new RegExp(schema.pattern).test(String(value)),
    schema.format === "date-time" && !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(String(value)),
    schema.format === "uri" && !URL.canParse(String(value)),
  ];
  return wrong.includes(true) ? [`${at} is ${JSON.stringify(value)}`] : [];
}

function objectComplaints(value: unknown, { properties = {}, required = [] }: Schema, at: string): string[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [`${at} is no object`];
  const missing = required.filter((name) => !(name in value)).map((name) => `${at}.${name} is missing`);
  const inside = Object.entries(value).flatMap(([name, one]) => {
    const schema = properties[name];
    return schema ? complaints(one, schema, `${at}.${name}`) : [`${at}.${name} is not described`];
  });
  return [...missing, ...inside];
}

/** Converts an XML document to the value that its schema describes. */
function valueOfXml(document: string, schema: Schema): unknown {
  const roots = xmlNodes(document).filter((node) => !("#text" in node));
  expect(roots.map(nameOf)).toEqual([schema.xml?.name]);
  return valueOf(roots[0] ?? {}, schema);
}

function valueOf(node: XmlNode, schema: Schema): unknown {
  const content = (node[nameOf(node)] ?? []) as XmlNode[];
  const text = content.map((part) => String(part["#text"] ?? "")).join("");
  if (schema.type !== "object") return typedText(text, schema);
  const value: Record<string, unknown> = {};
  for (const [name, attribute] of Object.entries(node[":@"] ?? {}))
    value[name] = typedText(attribute, schema.properties?.[name]);
  for (const child of content.filter((part) => !("#text" in part))) {
    const name = nameOf(child);
    const { type, items } = schema.properties?.[name] ?? {};
    if (type === "array")
      value[name] = [...((value[name] as unknown[] | undefined) ?? []), valueOf(child, items ?? {})];
    else value[name] = valueOf(child, schema.properties?.[name] ?? {});
  }
  if (schema.properties?.["value"]?.["x-text"]) value["value"] = typedText(text, schema.properties["value"]);
  return value;
}

function typedText(text: string, { type }: Schema = {}): unknown {
  if ((type === "integer" || type === "number") && /^-?\d+(\.\d+)?$/.test(text)) return Number(text);
  if (type === "boolean" && /^(true|false)$/.test(text)) return text === "true";
  return text;
}
