import type { Version } from "#openapi/operation";
import { objectOf, type Parts, type Schema } from "#openapi/schema";
import { shownIn, type Document, type Fields, type Leaf, type Marked, type Shape } from "#openapi/shape";

/** The schema of the same document in JSON (docs/api/json.md): its root is the one key of an object. */
export const jsonSchema = ({ root, shape }: Document, version: Version): Schema =>
  objectOf(memberParts(root, shape, version));

/** An element as a member of an object; what the start tag of a list says stands beside the list. */
function memberParts(name: string, shape: Shape, version: Version): Parts {
  const isOptional = shape.optional === true;
  const beside = shape.kind === "list" ? attributeParts(shape.attributes ?? {}) : {};
  return { ...beside, [name]: { schema: schemaOf(shape, version), isOptional } };
}

function schemaOf(shape: Shape, version: Version): Schema {
  switch (shape.kind) {
    case "leaf":
      return leafSchema(shape);
    case "fields":
      return objectOf(fieldParts(shape, version));
    case "list":
    case "repeated":
      return { type: "array", items: schemaOf(shape.of, version) };
    case "marked":
      return objectOf({ ...attributeParts(shape.attributes), ...valueParts(shape, version) });
    default:
      return shape satisfies never;
  }
}

const leafSchema = ({ value, example }: Leaf): Schema =>
  example instanceof Date
    ? { type: "string", format: "date-time", examples: [`${example.toISOString().slice(0, 19)}Z`] }
    : { ...value, examples: [example] };

const fieldParts = (fields: Fields, version: Version): Parts =>
  Object.assign({}, ...shownIn(version, fields).map(([name, shape]) => memberParts(name, shape, version)));

/** Without what tells readers of XML of arrays. */
const attributeParts = (attributes: Marked["attributes"]): Parts =>
  Object.fromEntries(
    Object.entries(attributes)
      .filter(([, { example }]) => example !== "array")
      .map(([name, leaf]) => [name, { schema: leafSchema(leaf), isOptional: leaf.optional === true }]),
  );

const valueParts = ({ value }: Marked, version: Version): Parts =>
  value.kind === "fields" ? fieldParts(value, version) : { value: { schema: leafSchema(value), isOptional: false } };
