import type { z } from "zod";
import type { XmlNode } from "#wire/read-xml";

/**
 * A document described once: from a shape come the XML and the JSON that the service writes, the reader of what clients send,
 * the schemas of the API's description and its examples.
 */
export type Shape<T = never, C = unknown> = AnyShape & Typed<T, C>;

export type AnyShape = AnyLeaf | Fields | List | Marked;

/** Known to the compiler alone: what a shape is written from, and what its reader returns. */
export interface Typed<T, C> {
  readonly writes?: (value: T) => void;
  readonly reads?: C;
}

/** What is written as text. A moment has one form in XML and another in JSON. */
export type Text = string | number | boolean | Date;

/** An element that holds text alone, or an attribute. */
export interface Leaf<V> {
  readonly kind: "leaf";
  /** What JSON schema says of the value. */
  readonly schema: ValueSchema;
  readonly example: Text;
  /** What a stored document has there, as JSON. */
  readonly stored: z.ZodType<V>;
  write(value: V): Text;
  /** Reads the element at `path`, such as `settings/memory_size`; throws a WireFault if it has another form. */
  read(node: XmlNode, path: string): V;
}

export interface ValueSchema {
  type: "string" | "integer" | "boolean" | "number";
  format?: string;
  pattern?: string;
  enum?: readonly string[];
}

/** Any leaf; methods of a leaf are only called with its own values. */
export type AnyLeaf = Omit<Leaf<unknown>, "stored"> & { readonly stored: z.ZodType };

/** An element that holds elements in a fixed order. */
export interface Fields {
  readonly kind: "fields";
  readonly fields: Readonly<Record<string, Part>>;
  /** Replaces the reader of the fields. */
  readonly readBy?: (node: XmlNode, path: string) => unknown;
}

/** An element around any number of items, which says so in an attribute or not at all (wire.md §1.4). */
export interface List {
  readonly kind: "list";
  readonly item: string;
  readonly of: AnyShape;
  readonly says: "array" | "count" | "nothing";
  /** Beside `type` and `count`. */
  readonly attributes: Readonly<Record<string, Part>>;
  itemsOf(value: unknown): readonly unknown[];
}

/** An element with attributes. */
export interface Marked {
  readonly kind: "marked";
  readonly attributes: Readonly<Record<string, Part>>;
  readonly value: Part | Fields;
}

/** Who reads an answer: addresses in it begin with `baseUrl`, and some fields are in one version of the API alone. */
export interface Viewer {
  readonly baseUrl: string;
  readonly version: { readonly name: Version };
}

export type Version = "v1" | "v2";

/** A field of a document: what it looks like, where its value comes from, and when it is there. */
export interface Part {
  readonly shape: AnyShape;
  /** Any number of such elements, without another one around them. */
  readonly isRepeated: boolean;
  /** The property that the value is read into. Undefined: read into the properties of the owner itself. */
  readonly key: string | undefined;
  get(owner: unknown, viewer: Viewer): unknown;
  /** Undefined: always. */
  readonly when?: ((owner: unknown) => boolean) | undefined;
  /** Left out when there is nothing to say. */
  readonly isOptional: boolean;
  /** An empty text or list is left out. */
  readonly skipsEmpty: boolean;
  /** In this version of the API alone. */
  readonly only?: Version | undefined;
  /** XML does not show it. */
  readonly isJsonOnly: boolean;
  readonly reading: "optional" | "required" | "ignored";
  /** A reader takes it, and no schema names it. */
  readonly isUnnamed?: boolean;
  /** Another name that a reader takes it by. */
  readonly alias?: string | undefined;
  /** Replaces the reader of the shape. */
  readonly readBy?: ((node: XmlNode, path: string) => unknown) | undefined;
  /** What is read are properties of the owner, whatever the key says. */
  readonly isReadIntoOwner?: boolean;
  readonly range?: Range | undefined;
  /** What a stored document that lacks the field has there. */
  readonly initial?: unknown;
}

/** Bounds of a number, both included. */
export interface Range {
  readonly min: number;
  readonly max: number;
  readonly unit: string;
}

/** An answer or a body: its root element, and the name that the API's description gives it. */
export interface Document<T = never, C = unknown> extends Typed<T, C> {
  readonly name: string;
  readonly root: string;
  readonly shape: AnyShape;
}

export const document = <T, C>(name: string, root: string, shape: Shape<T, C>): Document<T, C> => ({
  name,
  root,
  shape,
});

/** The fields that a version of the API shows. */
export const shownIn = (version: Version, { fields }: Fields): [string, Part][] =>
  Object.entries(fields).filter(([, { only, isUnnamed }]) => !isUnnamed && (only === undefined || only === version));
