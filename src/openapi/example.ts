import { writeJson } from "#xml/json";
import {
  clientTime,
  JsonOnly,
  marked,
  XmlList,
  writeXml,
  type XmlFields,
  type XmlMarked,
  type XmlValue,
} from "#xml/write";
import type { Version } from "#openapi/operation";
import { attributesOf, shownIn, type Document, type Fields, type Marked, type Shape } from "#openapi/shape";

/** A document with one of everything that it can hold, as the service would write it. */
export const xmlExample = ({ root, shape }: Document, version: Version): string =>
  writeXml(root, valueOf(shape, version));

export const jsonExample = ({ root, shape }: Document, version: Version): unknown =>
  JSON.parse(writeJson(root, valueOf(shape, version)));

function valueOf(shape: Shape, version: Version): XmlValue {
  switch (shape.kind) {
    case "leaf":
      return shape.example;
    case "fields":
      return fieldsOf(shape, version);
    case "list":
      return new XmlList(shape.item, [valueOf(shape.of, version)], saidBy(attributesOf(shape)));
    case "marked":
      return markedOf(shape, version);
    case "repeated":
      return valueOf(shape.of, version);
    default:
      return shape satisfies never;
  }
}

const fieldsOf = (shape: Fields, version: Version): XmlFields =>
  Object.fromEntries(shownIn(version, shape).map(([name, one]) => [name, fieldOf(one, version)]));

function fieldOf(shape: Shape, version: Version): XmlFields[string] {
  if (shape.kind === "repeated") return [valueOf(shape.of, version)];
  if (shape.kind !== "leaf" || !shape.inJson || shape.example instanceof Date) return valueOf(shape, version);
  return new JsonOnly(shape.example);
}

function markedOf({ attributes, value }: Marked, version: Version): XmlMarked {
  return marked(saidBy(attributes), value.kind === "fields" ? fieldsOf(value, version) : String(value.example));
}

const saidBy = (attributes: Marked["attributes"]): Record<string, string | number | boolean> =>
  Object.fromEntries(
    Object.entries(attributes).map(([name, { example }]) => [
      name,
      example instanceof Date ? clientTime(example) : example,
    ]),
  );
