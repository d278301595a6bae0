import type { AnyShape, Fields, Part, Shape } from "#wire/shape";

/** The same shape with each of its parts changed, at any depth. `change` gets a part whose own parts are changed already. */
export const mapParts = <T, C>(shape: Fields & Shape<T, C>, change: (part: Part) => Part): Fields & Shape<T, C> =>
  mapFields(shape, change);

const mapFields = ({ fields, ...rest }: Fields, change: (part: Part) => Part): Fields => ({
  ...rest,
  fields: Object.fromEntries(
    Object.entries(fields).map(([name, part]) => [name, change({ ...part, shape: mapShape(part.shape, change) })]),
  ),
});

function mapShape(shape: AnyShape, change: (part: Part) => Part): AnyShape {
  if (shape.kind === "fields") return mapFields(shape, change);
  return shape.kind === "list" ? { ...shape, of: mapShape(shape.of, change) } : shape;
}
