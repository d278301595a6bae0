import { document, type AnyShape, type Document, type Fields, type Part, type Shape } from "#lib/wire/shape";

/** The same document, but with empty texts and lists, so that a reader that keeps omitted values empties them. */
export const withEmpty = <T, C>(shape: Fields & Shape<T, C>): Fields & Shape<T, C> => mapParts(shape, shown);

const shown = (part: Part): Part => {
  if (!part.skipsEmpty) return part;
  return {
    ...part,
    skipsEmpty: false,
    inXmlWhen: undefined,
    isOptional: part.when !== undefined,
    shape: ofAnyText(part.shape),
  };
};

/** An empty text is not a valid URL. */
function ofAnyText(shape: AnyShape): AnyShape {
  if (shape.kind !== "leaf") return shape;
  const { format: _format, ...schema } = shape.schema;
  return { ...shape, schema };
}

/** The same document, but it never shows a secret. A reader still accepts secrets. */
export const withoutSecrets = <T, C>(shape: Fields & Shape<T, C>): Fields & Shape<T, C> => mapParts(shape, hidden);

const hidden = (part: Part): Part =>
  isSecret(part.shape) ? { ...part, isOptional: true, get: () => undefined } : part;

const isSecret = (shape: AnyShape): boolean => shape.kind === "leaf" && shape.isSecret === true;

/** Changes each part, at any depth. `change` gets a part whose own parts are already changed. */
const mapParts = ({ fields, ...rest }: Fields, change: (part: Part) => Part): Fields => ({
  ...rest,
  fields: Object.fromEntries(
    Object.entries(fields).map(([name, part]) => [name, change({ ...part, shape: mapShape(part.shape, change) })]),
  ),
});

function mapShape(shape: AnyShape, change: (part: Part) => Part): AnyShape {
  if (shape.kind === "fields") return mapParts(shape, change);
  return shape.kind === "list" ? { ...shape, of: mapShape(shape.of, change) } : shape;
}

/** A document that a client may send in part. Fields that readers ignore are not described. */
export const anyPartOf = <C>(name: string, { root, shape }: Document<never, C>): Document<never, C> =>
  document(name, root, anyPart(shape) as Shape<never, C>);

function anyPart(shape: AnyShape): AnyShape {
  if (shape.kind !== "fields") return shape;
  const parts = Object.entries(shape.fields).map(([name, part]): [string, Part] => [
    name,
    { ...part, isOptional: true, isUnnamed: part.reading === "ignored", shape: anyPart(part.shape) },
  ]);
  return { kind: "fields", fields: Object.fromEntries(parts) };
}
