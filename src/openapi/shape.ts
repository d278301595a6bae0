import type { ImageType } from "#contract/index";

/**
 * What a document holds, as data. The description's schemas and the examples of the page are made of it, and the tests
 * hold it against the answers of the service.
 */
export type Shape = (Leaf | Fields | List | Repeated | Marked) & Presence;

interface Presence {
  /** Left out where there is nothing to say. */
  optional?: true;
  /** In this version of the API alone. */
  only?: "v1" | "v2";
  /** XML does not tell it. */
  inJson?: true;
}

/** An answer or a body: its root element, and the name that the description knows it by. */
export interface Document {
  name: string;
  root: string;
  shape: Shape;
}

/** An element with text alone. */
export interface Leaf {
  kind: "leaf";
  /** What a schema says of its value. */
  value: {
    type: "string" | "integer" | "boolean" | "number";
    format?: string;
    pattern?: string;
    enum?: readonly string[];
  };
  /** A moment is written in one way in XML, in another in JSON. */
  example: string | number | boolean | Date;
}

/** An element with elements in a fixed order. */
export interface Fields {
  kind: "fields";
  fields: Readonly<Record<string, Shape>>;
}

/** An element around any number of items, which says so in an attribute or not at all (wire.md §1.4). */
export interface List {
  kind: "list";
  item: string;
  of: Shape;
  says: "array" | "count" | "nothing";
  /** Beside `type` and `count`. */
  attributes?: Readonly<Record<string, Leaf & Presence>>;
}

/** An element that may stand there any number of times, without another one around them. */
export interface Repeated {
  kind: "repeated";
  of: Leaf | Fields | Marked;
}

/** An element with attributes. */
export interface Marked {
  kind: "marked";
  attributes: Readonly<Record<string, Leaf & Presence>>;
  value: Leaf | Fields;
}

const leaf = (value: Leaf["value"], example: Leaf["example"]): Leaf => ({ kind: "leaf", value, example });

export const text = (example: string): Leaf => leaf({ type: "string" }, example);
export const oneOf = (example: string, ...others: readonly string[]): Leaf =>
  leaf({ type: "string", enum: [example, ...others] }, example);
export const id = (example: number): Leaf => leaf({ type: "integer", format: "int64" }, example);
export const int = (example: number): Leaf => leaf({ type: "integer" }, example);
export const decimal = (example: number): Leaf => leaf({ type: "number" }, example);
export const bool = (example: boolean): Leaf => leaf({ type: "boolean" }, example);
export const url = (example: string): Leaf => leaf({ type: "string", format: "uri" }, example);
/** Releases of an appliance: `0.0.2`. */
export const version = (example: string): Leaf =>
  leaf({ type: "string", pattern: String.raw`^\d+\.\d+\.\d+$` }, example);
/** A digest in hex. */
export const digest = (example: string): Leaf => leaf({ type: "string", pattern: "^[0-9a-f]+$" }, example);
/** Takes ISO 8601. */
export const time = (example: string): Leaf => leaf({ type: "string" }, new Date(example));
export const imageType = (example: ImageType): Leaf => text(example);

export const fields = (fields: Fields["fields"]): Fields => ({ kind: "fields", fields });
/** With `type="array"`. */
export const arrayOf = (item: string, of: List["of"], attributes: List["attributes"] = {}): List => ({
  kind: "list",
  item,
  of,
  says: "array",
  attributes,
});
/** With `count="3"`. */
export const countedOf = (item: string, of: List["of"]): List => ({ kind: "list", item, of, says: "count" });
/** Without an attribute. */
export const plainListOf = (item: string, of: List["of"]): List => ({ kind: "list", item, of, says: "nothing" });
export const repeated = (of: Repeated["of"]): Repeated => ({ kind: "repeated", of });
export const marked = (attributes: Marked["attributes"], value: Marked["value"]): Marked => ({
  kind: "marked",
  attributes,
  value,
});
export const optional = <T extends Shape>(shape: T): T => ({ ...shape, optional: true });
export const only = <T extends Shape>(version: "v1" | "v2", shape: T): T => ({ ...shape, only: version });
/** May be absent in JSON, and is no element of XML. */
export const inJson = (shape: Leaf): Leaf & Presence => ({ ...shape, optional: true, inJson: true });

export const document = (name: string, root: string, shape: Shape): Document => ({ name, root, shape });

/** The fields that a version of the API shows. */
export const shownIn = (version: "v1" | "v2", { fields }: Fields): [string, Shape][] =>
  Object.entries(fields).filter(([, { only }]) => only === undefined || only === version);

/** What the start tag of a list says. */
export function attributesOf({ says, attributes = {} }: List): Marked["attributes"] {
  const said: Record<List["says"], Marked["attributes"]> = {
    array: { type: oneOf("array") },
    count: { count: int(1) },
    nothing: {},
  };
  return { ...said[says], ...attributes };
}
