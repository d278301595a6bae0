import type { AnyShape, Document, Fields, List, Marked, Part, Viewer } from "#lib/wire/shape";
import { shownIn } from "#lib/wire/shape";
import { JsonOnly, marked, XmlList, type XmlFields, type XmlMarked, type XmlValue } from "#lib/wire/xml";

/** A value in the form that the writers of XML and JSON take. */
export const viewOf = <T>({ shape }: Document<T>, value: T, viewer: Viewer): XmlValue => valueOf(shape, value, viewer);

function valueOf(shape: AnyShape, value: unknown, viewer: Viewer): XmlValue {
  switch (shape.kind) {
    case "leaf":
      return shape.write(value);
    case "fields":
      return fieldsOf(shape, value, viewer);
    case "list":
      return listOf(shape, value, viewer);
    case "marked":
      return markedOf(shape, value, viewer);
    default:
      return shape satisfies never;
  }
}

function fieldsOf(shape: Fields, owner: unknown, viewer: Viewer): XmlFields {
  const view: XmlFields = {};
  for (const [name, part] of shownIn(viewer.version.name, shape)) view[name] = partOf(part, owner, viewer);
  return view;
}

function partOf(part: Part, owner: unknown, viewer: Viewer): XmlFields[string] {
  if (part.when && !part.when(owner)) return undefined;
  const value = part.get(owner, viewer);
  if (value === undefined || value === null || (part.skipsEmpty && isEmpty(value))) return undefined;
  if (part.isRepeated) return (value as readonly unknown[]).map((one) => valueOf(part.shape, one, viewer));
  const shown = valueOf(part.shape, value, viewer);
  const isJsonOnly = part.isJsonOnly || part.inXmlWhen?.(owner) === false;
  return isJsonOnly ? new JsonOnly(shown) : shown;
}

function listOf({ item, of, mark, attributes, itemsOf }: List, value: unknown, viewer: Viewer): XmlList {
  const items = itemsOf(value).map((one) => valueOf(of, one, viewer));
  const marks = mark === "count" ? { count: items.length } : marksOf[mark];
  return new XmlList(item, items, { ...marks, ...attributesOf(attributes, value, viewer) });
}

const marksOf = { array: { type: "array" }, nothing: {} };

function markedOf({ attributes, value }: Marked, owner: unknown, viewer: Viewer): XmlMarked {
  const written = attributesOf(attributes, owner, viewer);
  if ("kind" in value) return marked(written, fieldsOf(value, owner, viewer));
  return marked(written, String(partOf(value, owner, viewer) ?? ""));
}

function attributesOf(parts: Marked["attributes"], owner: unknown, viewer: Viewer) {
  const written: Record<string, string | number | boolean | JsonOnly> = {};
  // Not Object.entries, which would create an array for each attribute of each item.
  for (const name in parts) {
    const part = parts[name];
    const value = part && partOf(part, owner, viewer);
    if (value !== undefined && (isScalar(value) || value instanceof JsonOnly)) written[name] = value;
  }
  return written;
}

const isScalar = (value: XmlFields[string]): value is string | number | boolean =>
  typeof value === "string" || typeof value === "number" || typeof value === "boolean";

const isEmpty = (value: unknown): boolean =>
  value === "" || value === false || (Array.isArray(value) && value.length === 0);
