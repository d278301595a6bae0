import type { z } from "zod";
import type { XmlNode } from "#lib/wire/read-xml";

/**
 * The single description of a document. From it come the XML and JSON that the service writes, the reader of clients'
 * documents, and the schemas and examples of the API's description.
 */
export type Shape<T = never, C = unknown> = AnyShape & Typed<T, C>;

export type AnyShape = AnyLeaf | Fields | List | Marked;

/** Only for the compiler: the type that a shape is written from, and the type that its reader returns. */
export interface Typed<T, C> {
  readonly writes?: (value: T) => void;
  readonly reads?: C;
}

/** A value that is written as text. A date has different forms in XML and JSON. */
export type Text = string | number | boolean | Date;

/** An element that contains only text, or an attribute. */
export interface Leaf<V> {
  readonly kind: "leaf";
  /** The JSON schema of the value. */
  readonly schema: ValueSchema;
  readonly example: Text;
  /** Whether a document for a file omits it: see `withoutSecrets`. */
  readonly isSecret?: true;
  /** Text of many lines, for which users prefer to name a file. */
  readonly isLong?: true;
  /** The schema of the value in a stored document. */
  readonly stored: z.ZodType<V>;
  write(value: V): Text;
  /** Reads the element at `path`, such as `settings/memory_size`; throws a WireFault if it has a different form. */
  read(node: XmlNode, path: string): V;
}

export interface ValueSchema {
  type: "string" | "integer" | "boolean" | "number";
  format?: string;
  pattern?: string;
  enum?: readonly string[];
}

/** Any leaf. Its methods are only called with its own values. */
export type AnyLeaf = Omit<Leaf<unknown>, "stored"> & { readonly stored: z.ZodType };

/** An element that contains elements in a fixed order. */
export interface Fields {
  readonly kind: "fields";
  readonly fields: Readonly<Record<string, Part>>;
  /** Replaces the reader of the fields. */
  readonly readBy?: (node: XmlNode, path: string) => unknown;
}

/** An element around any number of items. An attribute may mark it as a list (compatibility.md, "Lists"). */
export interface List {
  readonly kind: "list";
  readonly item: string;
  readonly of: AnyShape;
  readonly mark: "array" | "count" | "nothing";
  /** Attributes in addition to `type` and `count`. */
  readonly attributes: Readonly<Record<string, Part>>;
  itemsOf(value: unknown): readonly unknown[];
}

/** An element with attributes. */
export interface Marked {
  readonly kind: "marked";
  readonly attributes: Readonly<Record<string, Part>>;
  readonly value: Part | Fields;
}

/** The reader of an answer. URLs in it begin with `baseUrl`, and some fields exist only in one version of the API. */
export interface Viewer {
  readonly baseUrl: string;
  readonly version: { readonly name: Version };
}

export type Version = "v1" | "v2";

/** A field of a document: its shape, the source of its value, and when it is present. */
export interface Part {
  readonly shape: AnyShape;
  /** Whether there may be any number of such elements, without an element around them. */
  readonly isRepeated: boolean;
  /** The property that the value is read into; undefined for the properties of the owner itself. */
  readonly key: string | undefined;
  get(owner: unknown, viewer: Viewer): unknown;
  /** The condition for its presence; undefined if it is always present. */
  readonly when?: ((owner: unknown) => boolean) | undefined;
  /** Omitted if there is no value. */
  readonly isOptional: boolean;
  /** An empty text or list is omitted. */
  readonly skipsEmpty: boolean;
  /** The only version of the API that has it. */
  readonly only?: Version | undefined;
  /** XML does not show it. */
  readonly isJsonOnly: boolean;
  /** XML shows it only if the owner meets the condition. Without a condition, XML always shows it. */
  readonly inXmlWhen?: ((owner: unknown) => boolean) | undefined;
  readonly reading: "optional" | "required" | "ignored";
  /** A reader accepts it, but no schema mentions it. */
  readonly isUnnamed?: boolean;
  /** Another name that a reader accepts. */
  readonly alias?: string | undefined;
  /** Replaces the reader of the shape. */
  readonly readBy?: ((node: XmlNode, path: string) => unknown) | undefined;
  /** The reader returns properties of the owner, whatever the key is. */
  readonly isReadIntoOwner?: boolean;
  readonly range?: Range | undefined;
  readonly pattern?: Pattern | undefined;
  /** The value for a stored document without the field. */
  readonly initial?: unknown;
  readonly question?: Question | undefined;
  /** The reason why no form has the field. */
  readonly notAsked?: string | undefined;
  /** Why it cannot be read from the description of an image. */
  readonly notImported?: string | undefined;
}

/** The question of a form about a field. An editor of a document shows the same words. */
export interface Question {
  readonly label: string;
  readonly hint?: string;
  /** The page whose form has the field, in the order of the document. Default: the form of an entry of its list. */
  readonly page?: string;
  /** The field comes before the others on its page. */
  readonly isFirst?: true;
  /** Default: the unit of the range. */
  readonly unit?: string;
  /** How it is entered. The default follows from the shape. */
  readonly entered?: string;
  /** Values to choose from, with the words that users see. */
  readonly options?: readonly (readonly [value: string, words: string])[];
  /** The setting of the same form without which it has no effect. */
  readonly usedWith?: string;
  /** The fact of a base system (src/model/catalogue.ts) without which no form has the field. */
  readonly ofBase?: "firstBoot" | "automaticUpdates" | "diskEncryption" | "fileSystem";
}

/** Limits of a number, inclusive. */
interface Range {
  readonly min: number;
  readonly max: number;
  readonly unit: string;
}

/** The rule for valid texts. */
interface Pattern {
  readonly pattern: RegExp;
  /** The reason for a refusal, without a full stop. */
  readonly why: string;
}

/** An answer or a body: its root element, and its name in the API's description. */
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

/** The fields that a version of the API shows. Cached by shape, because a list needs them for each entry. */
export function shownIn(version: Version, shape: Fields): readonly [string, Part][] {
  const known = shownFields.get(shape) ?? {};
  shownFields.set(shape, known);
  return (known[version] ??= Object.entries(shape.fields).filter(
    ([, { only, isUnnamed }]) => !isUnnamed && (only === undefined || only === version),
  ));
}

const shownFields = new WeakMap<Fields, Partial<Record<Version, [string, Part][]>>>();
