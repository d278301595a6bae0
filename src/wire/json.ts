import { JsonOnly, XmlList, XmlMarked, type XmlFields, type XmlValue } from "./xml.ts";

/** The views of the API as JSON (docs/api/json.md), for clients that ask for it. */

type Json = string | number | boolean | Json[] | JsonObject;
interface JsonObject {
  [name: string]: Json;
}

/** The whole document: an object whose one key is what XML has as its root. */
export const writeJson = (root: string, value: XmlValue): string => `${JSON.stringify(objectOf({ [root]: value }))}\n`;

function objectOf(fields: XmlFields): JsonObject {
  return Object.fromEntries(Object.entries(fields).flatMap(([name, field]) => membersOf(name, field)));
}

/** A list is its items alone; what else XML says in its attributes stands beside it. */
function membersOf(name: string, field: XmlFields[string]): [string, Json][] {
  if (field === undefined) return [];
  if (field instanceof JsonOnly) return [[name, field.value]];
  if (isRepeated(field)) return [[name, field.map(jsonOf)]];
  const beside = field instanceof XmlList ? Object.entries(toldOfList(field.attributes)) : [];
  return [...beside, [name, jsonOf(field)]];
}

function jsonOf(value: XmlValue): Json {
  if (value instanceof Date) return `${value.toISOString().slice(0, 19)}Z`;
  if (value instanceof XmlList) return value.items.map(jsonOf);
  if (value instanceof XmlMarked) return markedOf(value);
  return typeof value === "object" ? objectOf(value) : value;
}

/** Always an object, so that its shape does not depend on which attributes there are today. */
function markedOf({ attributes, value }: XmlMarked): JsonObject {
  return { ...told(attributes), ...(typeof value === "string" ? { value } : objectOf(value)) };
}

/** Without what tells XML readers of arrays. */
const told = (attributes: XmlMarked["attributes"]): JsonObject =>
  Object.fromEntries(Object.entries(attributes).filter(([name, value]) => !(name === "type" && value === "array")));

/** How many items there are is seen. */
const toldOfList = ({ count: _count, ...attributes }: XmlMarked["attributes"]): JsonObject => told(attributes);

const isRepeated = (field: XmlValue | readonly XmlValue[]): field is readonly XmlValue[] => Array.isArray(field);
