import { mapParts } from "#wire/map-parts";
import type { AnyShape, Fields, Part, Shape } from "#wire/shape";

/** The same document, which shows empty texts and lists too: a reader that keeps what is omitted makes them empty. */
export const withEmpty = <T, C>(shape: Fields & Shape<T, C>): Fields & Shape<T, C> => mapParts(shape, shown);

const shown = (part: Part): Part => {
  if (!part.skipsEmpty) return part;
  return { ...part, skipsEmpty: false, isOptional: part.when !== undefined, shape: ofAnyText(part.shape) };
};

/** An empty text is no URL. */
function ofAnyText(shape: AnyShape): AnyShape {
  if (shape.kind !== "leaf") return shape;
  const { format: _format, ...schema } = shape.schema;
  return { ...shape, schema };
}
