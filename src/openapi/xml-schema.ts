import { clientTime } from "#xml/write";
import type { Version } from "#openapi/operation";
import { objectOf, type Parts, type Schema } from "#openapi/schema";
import { attributesOf, shownIn, type Document, type Fields, type Leaf, type Marked, type Shape } from "#openapi/shape";

/** The schema of a document in XML, as this version of the API shows it. */
export const xmlSchema = ({ root, shape }: Document, version: Version): Schema => ({
  ...schemaOf(shape, version),
  xml: { name: root },
});

function schemaOf(shape: Shape, version: Version): Schema {
  switch (shape.kind) {
    case "leaf":
      return leafSchema(shape);
    case "fields":
      return objectOf(fieldParts(shape, version));
    case "list":
      return objectOf({ ...attributeParts(attributesOf(shape)), [shape.item]: items(shape.of, version) });
    case "repeated":
      return items(shape.of, version).schema;
    case "marked":
      return objectOf({ ...attributeParts(shape.attributes), ...valueParts(shape, version) });
    default:
      return shape satisfies never;
  }
}

const leafSchema = ({ value, example }: Leaf): Schema =>
  example instanceof Date
    ? { type: "string", pattern: String.raw`^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$`, examples: [clientTime(example)] }
    : { ...value, examples: [example] };

const fieldParts = (fields: Fields, version: Version): Parts =>
  Object.fromEntries(
    shownIn(version, fields)
      .filter(([, { inJson }]) => !inJson)
      .map(([name, shape]) => [
        name,
        { schema: schemaOf(shape, version), isOptional: shape.optional === true || shape.kind === "repeated" },
      ]),
  );

/** None of them is no element at all. */
const items = (item: Shape, version: Version): Parts[string] => ({
  schema: { type: "array", items: schemaOf(item, version) },
  isOptional: true,
});

const attributeParts = (attributes: Marked["attributes"]): Parts =>
  Object.fromEntries(
    Object.entries(attributes).map(([name, leaf]) => [
      name,
      { schema: { ...leafSchema(leaf), xml: { attribute: true } }, isOptional: leaf.optional === true },
    ]),
  );

/** OpenAPI 3.1 has no word for the text of an element that has attributes; `x-text` marks it. */
const valueParts = ({ value }: Marked, version: Version): Parts =>
  value.kind === "fields"
    ? fieldParts(value, version)
    : { value: { schema: { ...leafSchema(value), "x-text": true }, isOptional: false } };
