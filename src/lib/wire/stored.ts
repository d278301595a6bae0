import { z } from "zod";
import type { AnyShape, Fields, Part, Shape } from "#lib/wire/shape";

/** The schema of a stored document: JSON with its owner's properties. A missing field gets its initial value. */
export const storedSchema = <T>(shape: Fields & Shape<T>): z.ZodType<T> =>
  // Safe: the shape's types state its properties.
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

/** The properties of a group belong to its owner. */
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
  // Parsed, so that the fields of a missing section get their own initial values.
  return initial === undefined ? schema : schema.prefault(initial);
}
