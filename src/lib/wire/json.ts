import { JsonOnly, XmlList, XmlMarked, type XmlFields, type XmlValue } from "./xml.ts";

/** The API's views as JSON (docs/api/json.md), for clients that request it. */

type Json = string | number | boolean | Json[] | JsonObject;
interface JsonObject {
  [name: string]: Json;
}

/** The whole document: an object whose only key is the root element of the XML. */
export const writeJson = (root: string, value: XmlValue): string => `${JSON.stringify(objectOf({ [root]: value }))}\n`;

function objectOf(fields: XmlFields): JsonObject {
  return Object.fromEntries(Object.entries(fields).flatMap(([name, field]) => membersOf(name, field)));
}

/** A list is an array of its items. Its other XML attributes are next to it. */
function membersOf(name: string, field: XmlFields[string]): [string, Json][] {
  if (field === undefined) return [];
  if (field instanceof JsonOnly) return membersOf(name, field.value);
  if (isRepeated(field)) return [[name, field.map(jsonOf)]];
  const siblings = field instanceof XmlList ? Object.entries(listAttributeMembers(field.attributes)) : [];
  return [...siblings, [name, jsonOf(field)]];
}

function jsonOf(value: XmlValue): Json {
  if (value instanceof Date) return `${value.toISOString().slice(0, 19)}Z`;
  if (value instanceof XmlList) return value.items.map(jsonOf);
  if (value instanceof XmlMarked) return markedOf(value);
  return typeof value === "object" ? objectOf(value) : value;
}

/** Always an object, so that the form does not depend on the existing attributes. */
function markedOf({ attributes, value }: XmlMarked): JsonObject {
  return { ...attributeMembers(attributes), ...(typeof value === "string" ? { value } : objectOf(value)) };
}

/** The attributes without `type="array"`, which is only for readers of XML. */
const attributeMembers = (attributes: XmlMarked["attributes"]): JsonObject =>
  Object.fromEntries(
    Object.entries(attributes)
      .filter(([name, value]) => !(name === "type" && value === "array"))
      .map(([name, value]) => [name, value instanceof JsonOnly ? jsonOf(value.value) : value]),
  );

/** A list's attributes without `count`, which a reader of JSON does not need. */
const listAttributeMembers = ({ count: _count, ...attributes }: XmlMarked["attributes"]): JsonObject =>
  attributeMembers(attributes);

const isRepeated = (field: XmlValue | readonly XmlValue[]): field is readonly XmlValue[] => Array.isArray(field);
