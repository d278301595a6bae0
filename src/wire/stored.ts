import { z } from "zod";
import type { AnyShape, Fields, Part, Shape } from "#wire/shape";

/** The schema of a document as it is stored, as JSON by its owner's properties; a field that it lacks has its initial value. */
export const storedSchema = <T>(shape: Fields & Shape<T>): z.ZodType<T> =>
  // The shape's types say what its properties are.
  schemaOf(shape) as z.ZodType<T>;

function schemaOf(shape: AnyShape): z.ZodType {
  switch (shape.kind) {
    case "leaf":
      return shape.stored;
    case "fields":
      return z.object(propertiesOf(shape));
    case "list":
      return z.array(schemaOf(shape.of));
    case "marked":
      throw new Error("an element with attributes is not stored");
    default:
      return shape satisfies never;
  }
}

/** A group has its properties in its owner. */
function propertiesOf({ fields }: Fields): Record<string, z.ZodType> {
  const properties: Record<string, z.ZodType> = {};
  for (const part of Object.values(fields)) {
    if (part.key !== undefined) properties[part.key] = withInitial(part);
    else if (part.shape.kind === "fields") Object.assign(properties, propertiesOf(part.shape));
  }
  return properties;
}

function withInitial({ shape, isRepeated, initial }: Part): z.ZodType {
  const schema = isRepeated ? z.array(schemaOf(shape)) : schemaOf(shape);
  // Parsed, so that the fields of a section that is missing get theirs.
  return initial === undefined ? schema : schema.prefault(initial);
}
