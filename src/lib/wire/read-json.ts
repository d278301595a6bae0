import { unknownElement, WireFault, wrongValue } from "#lib/wire/fault";
import { isForbidden, maxNodes, type XmlNode } from "#lib/wire/read-xml";
import type { AnyShape, Document, Fields, List, Marked, Part } from "#lib/wire/shape";

/**
 * Reads a client's JSON, in the form in which the service writes it (docs/api/json.md), as the elements that XML would
 * have, so that one reader reads both. Fields that only JSON shows are ignored, so that a client can send an answer
 * back.
 */
export function readJson({ root, shape }: Document<never, unknown>, text: string): XmlNode {
  const json = parsed(text);
  refuseMany(json);
  const [[name, value] = [], ...others] = Object.entries(objectOf(json, root));
  if (name !== root || others.length > 0) throw new WireFault("invalid_node", `The JSON must be {"${root}": …}.`);
  return nodeOf(shape, { name, value, path: "" });
}

/** A value of the JSON, and the name that its element gets. */
interface Given {
  name: string;
  value: unknown;
  path: string;
}

function nodeOf(shape: AnyShape, given: Given): XmlNode {
  switch (shape.kind) {
    case "leaf":
      return textNode(given);
    case "fields":
      return element(given.name, { children: childrenOf(shape, given) });
    case "list":
      return element(given.name, { children: itemsOf(shape, given) });
    case "marked":
      return markedNode(shape, given);
    default:
      return shape satisfies never;
  }
}

function childrenOf({ fields }: Fields, { value, path }: Given): XmlNode[] {
  const members = Object.entries(objectOf(value, path)).filter(([, member]) => member !== null);
  return members.flatMap(([name, member]) => {
    const part = partNamed(fields, name);
    const given = { name, value: member, path: below(path, name) };
    if (part) return part.isJsonOnly ? [] : partNodes(part, given);
    if (isBesideList(fields, name)) return [];
    throw unknownElement(given.path);
  });
}

const partNamed = (fields: Fields["fields"], name: string): Part | undefined =>
  Object.hasOwn(fields, name) ? fields[name] : Object.values(fields).find(({ alias }) => alias === name);

/** Whether the name is an attribute of a list, which JSON has next to the list. Readers of XML ignore it, too. */
const isBesideList = (fields: Fields["fields"], name: string): boolean =>
  Object.values(fields).some(({ shape }) => shape.kind === "list" && Object.hasOwn(shape.attributes, name));

function partNodes({ isRepeated, shape }: Part, given: Given): XmlNode[] {
  if (!isRepeated) return [nodeOf(shape, given)];
  const nodes = arrayOf(given).map((value) => nodeOf(shape, { ...given, value }));
  // An empty element means that there are none; without one, the list would be absent.
  return nodes.length === 0 && shape.kind === "leaf" ? [element(given.name, {})] : nodes;
}

const itemsOf = ({ item, of }: List, given: Given): XmlNode[] =>
  arrayOf(given).map((value) => nodeOf(of, { name: item, value, path: below(given.path, item) }));

/**
 * An object with the attributes and `value`, or with the attributes and the elements. A bare text has no attributes.
 */
function markedNode({ attributes, value: inner }: Marked, given: Given): XmlNode {
  if (!("kind" in inner) && typeof given.value !== "object") return textNode(given);
  const members = Object.entries(objectOf(given.value, given.path)).filter(([, member]) => member !== null);
  const { marks = [], others = [] } = Object.groupBy(members, ([name]) =>
    Object.hasOwn(attributes, name) ? "marks" : "others",
  );
  const texts = marks.map(([name, value]): [string, string] => [
    name,
    textOf({ name, value, path: below(given.path, name) }),
  ]);
  const rest = { ...given, value: Object.fromEntries(others) };
  const node = "kind" in inner ? nodeOf(inner, rest) : textNode({ ...given, value: valueIn(rest) });
  return { ...node, attributes: new Map(texts) };
}

function valueIn({ value, path }: Given): unknown {
  const { value: text = "", ...others } = objectOf(value, path);
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw unknownElement(below(path, unknown));
  return text;
}

const textNode = (given: Given): XmlNode => {
  const exactText = textOf(given);
  return element(given.name, { text: exactText.trim(), exactText });
};

function textOf({ value, path }: Given): string {
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "boolean")
    throw wrongValue(path, "must be a string, a number, true or false");
  const text = String(value);
  if (isForbidden(text)) throw wrongValue(path, "must not have control characters");
  return text;
}

const below = (path: string, name: string): string => (path === "" ? name : `${path}/${name}`);

const element = (name: string, has: Partial<XmlNode>): XmlNode => ({
  name,
  attributes: new Map(),
  children: [],
  text: "",
  exactText: "",
  ...has,
});

function objectOf(value: unknown, path: string): Record<string, unknown> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw wrongValue(path || "The document", "must be an object");
}

function arrayOf({ value, path }: Given): unknown[] {
  if (Array.isArray(value)) return value;
  throw wrongValue(path, "must be a list");
}

/** Each object, list, text and number takes as long to read as an element of XML. */
function refuseMany(json: unknown): void {
  const left = [json];
  for (let count = 0; left.length > 0; count += 1) {
    if (count + left.length > maxNodes) throw new WireFault("invalid_xml", "The JSON has too many values.");
    const value = left.pop();
    if (typeof value === "object" && value !== null) for (const each of Object.values(value)) left.push(each);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new WireFault("invalid_value", "The body is not well-formed JSON.");
  }
}
