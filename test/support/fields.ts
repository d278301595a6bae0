import type { AnyShape, Part } from "#lib/wire/shape";

/** A field with one value, or with a list of single values. */
interface FoundField {
  /** The path in a document, such as `settings/memory_size` or `users/user/name`. */
  path: string;
  name: string;
  part: Part;
  /** The path of the list whose entries have it. */
  list?: string;
  /** The reason why an import of a KIWI description omits it: its own reason, or that of its list. */
  notImported: string | undefined;
}

type InList = Pick<FoundField, "list"> & Partial<Pick<FoundField, "notImported">>;

/** Each field of a document that clients may send. */
export function fieldsIn(shape: AnyShape, path = "", within: InList = {}): FoundField[] {
  if (shape.kind !== "fields") return [];
  return Object.entries(shape.fields)
    .filter(([, { reading }]) => reading !== "ignored")
    .flatMap(([name, part]) => {
      const at = path === "" ? name : `${path}/${name}`;
      const { shape: inner } = part;
      const notImported = part.notImported ?? within.notImported;
      if (inner.kind === "list" && inner.of.kind === "fields")
        return fieldsIn(inner.of, `${at}/${inner.item}`, { list: within.list ?? at, notImported });
      if (inner.kind === "fields") return fieldsIn(inner, at, { ...within, notImported });
      return [{ ...within, path: inner.kind === "list" ? `${at}/${inner.item}` : at, name, part, notImported }];
    });
}
