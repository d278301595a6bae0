import type { AnyShape, Part } from "#lib/wire/shape";

/** A field with one value, or with a list of single values. */
interface FoundField {
  /** The path in a document, such as `settings/memory_size` or `users/user/name`. */
  path: string;
  name: string;
  part: Part;
  /** The path of the list whose entries have it. */
  list?: string;
}

/** Each field of a document that clients may send. */
export function fieldsIn(shape: AnyShape, path = "", list?: string): FoundField[] {
  if (shape.kind !== "fields") return [];
  return Object.entries(shape.fields)
    .filter(([, { reading }]) => reading !== "ignored")
    .flatMap(([name, part]) => {
      const at = path === "" ? name : `${path}/${name}`;
      const { shape: inner } = part;
      if (inner.kind === "list" && inner.of.kind === "fields")
        return fieldsIn(inner.of, `${at}/${inner.item}`, list ?? at);
      if (inner.kind === "fields") return fieldsIn(inner, at, list);
      return [
        { path: inner.kind === "list" ? `${at}/${inner.item}` : at, name, part, ...(list !== undefined && { list }) },
      ];
    });
}
