import { unknownElement, wrongValue } from "#lib/wire/fault";
import { pathOf, plainName } from "#lib/wire/leaf";
import { isForbidden, type XmlNode } from "#lib/wire/read-xml";
import type { AnyShape, Document, Fields, List, Marked, Part } from "#lib/wire/shape";

/**
 * Reads a client's change: any part of a document, with each element at most once. In element names `-` and `_` are
 * equal, and attributes that the shape does not name are ignored (compatibility.md, "XML in requests"). Throws a
 * WireFault.
 */
export function readDocument<C>({ root, shape }: Document<never, C>, node: XmlNode): C {
  if (plainName(node) !== root) throw unknownElement(plainName(node));
  const read = readShape(shape, node, "");
  refuseForbidden(node, "");
  // Safe: the shape's types state what its readers return.
  return read as C;
}

/** Refuses text with a character that XML 1.0 forbids, even in an element whose reader has no rule about it. */
function refuseForbidden(node: XmlNode, path: string): void {
  if (isForbidden(node.exactText)) throw wrongValue(path || plainName(node), "must not have control characters");
  for (const child of node.children) refuseForbidden(child, pathOf(child, path));
}

function readShape(shape: AnyShape, node: XmlNode, path: string): unknown {
  switch (shape.kind) {
    case "leaf":
      return shape.read(node, path);
    case "fields":
      return shape.readBy ? shape.readBy(node, path) : readFields(shape, node, path);
    case "list":
      return readList(shape, node, path);
    case "marked":
      return readMarked(shape, node, path);
    default:
      return shape satisfies never;
  }
}

function readFields({ fields }: Fields, node: XmlNode, path: string): Record<string, unknown> {
  refuseText(node, path);
  const read: Record<string, unknown> = {};
  for (const [name, nodes] of Map.groupBy(node.children, (child) => nameIn(fields, child))) {
    const part = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (!part || part.isJsonOnly) throw unknownElement(path === "" ? name : `${path}/${name}`);
    if (part.reading !== "ignored") Object.assign(read, readPart(part, nodes, path));
  }
  for (const [name, { reading, key = "" }] of Object.entries(fields)) {
    if (reading === "required" && read[key] === undefined) throw wrongValue(`${path}/${name}`, "is missing");
  }
  return read;
}

/** The name of an element's field, which may differ by an alias. An unknown element keeps its own name. */
function nameIn(fields: Fields["fields"], node: XmlNode): string {
  const name = plainName(node);
  const [known = name] = Object.entries(fields).find(([, { alias }]) => alias === name) ?? [];
  return known;
}

/** The properties that the elements of one name add to their owner. */
function readPart(part: Part, nodes: readonly XmlNode[], path: string): object {
  const values = nodes.map((node) => readOne(part, node, pathOf(node, path)));
  // A single empty element means that there are none.
  if (part.isRepeated) return { [part.key ?? ""]: values.filter((one) => one !== "") };
  const [, second] = nodes;
  if (second) throw wrongValue(pathOf(second, path), "appears twice");
  return part.key === undefined || part.isReadIntoOwner ? Object(values[0]) : { [part.key]: values[0] };
}

const readOne = ({ readBy, shape }: Part, node: XmlNode, path: string): unknown =>
  readBy ? readBy(node, path) : readShape(shape, node, path);

function readList({ item, of }: List, node: XmlNode, path: string): unknown[] {
  refuseText(node, path);
  return node.children.map((child) => {
    const at = pathOf(child, path);
    if (plainName(child) !== item) throw unknownElement(at);
    return readShape(of, child, at);
  });
}

function readMarked({ attributes, value }: Marked, node: XmlNode, path: string): object {
  const read: Record<string, unknown> = {};
  for (const [name, { key, reading }] of Object.entries(attributes)) {
    const given = node.attributes.get(name);
    if (given && key !== undefined && reading !== "ignored") read[key] = given;
  }
  return { ...read, ...("kind" in value ? readFields(value, node, path) : readPart(value, [node], path)) };
}

function refuseText(node: XmlNode, path: string): void {
  if (node.text !== "") throw wrongValue(path || plainName(node), "must contain elements, not text");
}
