import { writeJson } from "#lib/wire/json";
import { listAttributes } from "#lib/wire/field";
import {
  shownIn,
  type AnyShape,
  type Document,
  type Fields,
  type Marked,
  type Part,
  type Version,
} from "#lib/wire/shape";
import {
  clientTime,
  JsonOnly,
  marked,
  XmlList,
  writeXml,
  type XmlFields,
  type XmlMarked,
  type XmlValue,
} from "#lib/wire/xml";

/** An example of a document with every element once, as the service would write it. */
export const xmlExample = ({ root, shape }: Document, version: Version): string =>
  writeXml(root, valueOf(shape, version));

export const jsonExample = ({ root, shape }: Document, version: Version): unknown =>
  JSON.parse(writeJson(root, valueOf(shape, version)));

function valueOf(shape: AnyShape, version: Version): XmlValue {
  switch (shape.kind) {
    case "leaf":
      return shape.example;
    case "fields":
      return fieldsOf(shape, version);
    case "list":
      return new XmlList(shape.item, [valueOf(shape.of, version)], exampleAttributes(listAttributes(shape)));
    case "marked":
      return markedOf(shape, version);
    default:
      return shape satisfies never;
  }
}

const fieldsOf = (shape: Fields, version: Version): XmlFields =>
  Object.fromEntries(shownIn(version, shape).map(([name, part]) => [name, partOf(part, version)]));

function partOf({ shape, isRepeated, isJsonOnly }: Part, version: Version): XmlFields[string] {
  if (isRepeated) return [valueOf(shape, version)];
  const example = valueOf(shape, version);
  return isJsonOnly ? new JsonOnly(example) : example;
}

function markedOf({ attributes, value }: Marked, version: Version): XmlMarked {
  return marked(exampleAttributes(attributes), "kind" in value ? fieldsOf(value, version) : String(exampleOf(value)));
}

const exampleAttributes = (attributes: Marked["attributes"]): Record<string, string | number | boolean> =>
  Object.fromEntries(Object.entries(attributes).map(([name, part]) => [name, exampleOf(part)]));

function exampleOf({ shape }: Part): string | number | boolean {
  if (shape.kind !== "leaf") throw new Error("an attribute must contain text");
  return shape.example instanceof Date ? clientTime(shape.example) : shape.example;
}
