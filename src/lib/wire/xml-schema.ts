import { rangeSchema } from "#lib/wire/json-schema";
import { objectOf, type Properties, type Schema } from "#lib/wire/schema";
import { listAttributes } from "#lib/wire/field";
import {
  shownIn,
  type AnyLeaf,
  type AnyShape,
  type Document,
  type Fields,
  type Marked,
  type Part,
  type Version,
} from "#lib/wire/shape";
import { clientTime } from "#lib/wire/xml";

/** The schema of a document's XML in a version of the API. */
export const xmlSchema = ({ root, shape }: Document, version: Version): Schema => ({
  ...schemaOf(shape, version),
  xml: { name: root },
});

function schemaOf(shape: AnyShape, version: Version): Schema {
  switch (shape.kind) {
    case "leaf":
      return leafSchema(shape);
    case "fields":
      return objectOf(fieldProperties(shape, version));
    case "list":
      return objectOf({ ...attributeProperties(listAttributes(shape)), [shape.item]: items(shape.of, version) });
    case "marked":
      return objectOf({ ...attributeProperties(shape.attributes), ...valueProperties(shape, version) });
    default:
      return shape satisfies never;
  }
}

const leafSchema = ({ schema, example }: AnyLeaf): Schema =>
  example instanceof Date
    ? { type: "string", pattern: String.raw`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$`, examples: [clientTime(example)] }
    : { ...schema, examples: [example] };

const fieldProperties = (fields: Fields, version: Version): Properties =>
  Object.fromEntries(
    shownIn(version, fields)
      .filter(([, { isJsonOnly }]) => !isJsonOnly)
      .map(([name, part]) => [name, property(part, version)]),
  );

function property({ shape, isRepeated, isOptional, range }: Part, version: Version): Properties[string] {
  if (isRepeated) return items(shape, version);
  return { schema: { ...schemaOf(shape, version), ...rangeSchema(range) }, isOptional };
}

/** Optional, because without items there is no element. */
const items = (item: AnyShape, version: Version): Properties[string] => ({
  schema: { type: "array", items: schemaOf(item, version) },
  isOptional: true,
});

const attributeProperties = (attributes: Marked["attributes"]): Properties =>
  Object.fromEntries(
    Object.entries(attributes).map(([name, { shape, isOptional }]) => [
      name,
      { schema: { ...schemaOf(shape, "v2"), xml: { attribute: true } }, isOptional },
    ]),
  );

/** OpenAPI 3.1 cannot describe the text of an element with attributes, so `x-text` marks it. */
const valueProperties = ({ value }: Marked, version: Version): Properties =>
  "kind" in value
    ? fieldProperties(value, version)
    : { value: { schema: { ...schemaOf(value.shape, version), "x-text": true }, isOptional: false } };
