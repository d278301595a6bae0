import { objectOf, type Properties, type Schema } from "#lib/wire/schema";
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

/** The schema of a document in JSON (docs/api/json.md): its root is the one key of an object. */
export const jsonSchema = ({ root, shape }: Document, version: Version): Schema =>
  objectOf(properties(root, { shape, isOptional: false, isRepeated: false }, version));

type Member = Pick<Part, "shape" | "isOptional" | "isRepeated"> & Pick<Partial<Part>, "range">;

/** An element as a member of an object. The attributes of a list are next to the list. */
function properties(name: string, part: Member, version: Version): Properties {
  const { shape, isOptional, isRepeated, range } = part;
  const siblings = shape.kind === "list" ? attributeProperties(shape.attributes) : {};
  const one = { ...schemaOf(shape, version), ...rangeSchema(range) };
  return { ...siblings, [name]: { schema: isRepeated ? { type: "array", items: one } : one, isOptional } };
}

function schemaOf(shape: AnyShape, version: Version): Schema {
  switch (shape.kind) {
    case "leaf":
      return leafSchema(shape);
    case "fields":
      return objectOf(fieldProperties(shape, version));
    case "list":
      return { type: "array", items: schemaOf(shape.of, version) };
    case "marked":
      return objectOf({ ...attributeProperties(shape.attributes), ...valueProperties(shape, version) });
    default:
      return shape satisfies never;
  }
}

const leafSchema = ({ schema, example }: AnyLeaf): Schema =>
  example instanceof Date
    ? { type: "string", format: "date-time", examples: [`${example.toISOString().slice(0, 19)}Z`] }
    : { ...schema, examples: [example] };

/** A number's limits in JSON schema. */
export const rangeSchema = (range: Part["range"]): Schema => (range ? { minimum: range.min, maximum: range.max } : {});

const fieldProperties = (fields: Fields, version: Version): Properties =>
  Object.assign({}, ...shownIn(version, fields).map(([name, part]) => properties(name, part, version)));

/** The attributes without `type="array"`, which is only for readers of XML. */
const attributeProperties = (attributes: Marked["attributes"]): Properties =>
  Object.assign(
    {},
    ...Object.entries(attributes)
      .filter(([, { shape }]) => !(shape.kind === "leaf" && shape.example === "array"))
      .map(([name, part]) => properties(name, part, "v2")),
  );

const valueProperties = ({ value }: Marked, version: Version): Properties =>
  "kind" in value ? fieldProperties(value, version) : properties("value", { ...value, isOptional: false }, version);
