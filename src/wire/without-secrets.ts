import type { AnyShape, Fields, Part, Shape } from "#wire/shape";

/** The same document, which never shows a secret. A reader still takes them. */
export const withoutSecrets = <T, C>(shape: Fields & Shape<T, C>): Fields & Shape<T, C> => fieldsOf(shape);

const fieldsOf = ({ fields, ...rest }: Fields): Fields => ({
  ...rest,
  fields: Object.fromEntries(Object.entries(fields).map(([name, part]) => [name, partOf(part)])),
});

function partOf(part: Part): Part {
  const { shape } = part;
  const isSecret = shape.kind === "leaf" && shape.isSecret === true;
  return isSecret ? { ...part, isOptional: true, get: () => undefined } : { ...part, shape: shapeOf(shape) };
}

function shapeOf(shape: AnyShape): AnyShape {
  if (shape.kind === "fields") return fieldsOf(shape);
  return shape.kind === "list" ? { ...shape, of: shapeOf(shape.of) } : shape;
}
