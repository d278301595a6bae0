import * as leaves from "#lib/wire/leaf";
import type { LeafShape } from "#lib/wire/leaf";
import type { XmlNode } from "#lib/wire/read-xml";
import {
  type AnyShape,
  type Fields,
  type List,
  type Marked,
  type Part,
  type Question,
  type Shape,
  type Version,
  type Viewer,
} from "#lib/wire/shape";

/** Any field. `writes` and `reads` exist only for the compiler. */
export interface AnyField<O = never, C = unknown> {
  readonly writes?: (owner: O) => void;
  readonly reads?: C;
  readonly part: Part;
}

/** A field of an owner O. C is what the field's reader adds to a client's change. */
export class Field<O = never, C = unknown> implements AnyField<O, C> {
  declare readonly writes?: (owner: O) => void;
  declare readonly reads?: C;
  readonly part: Part;

  constructor(part: Part) {
    this.part = part;
  }

  /** Omitted if the owner has no value. */
  optional(): Field<{ [P in keyof O]?: O[P] | null | undefined }, C> {
    return this.#with({ isOptional: true });
  }

  /** Omitted if it is an empty text, an empty list or false. */
  unlessEmpty(): Field<O, C> {
    return this.#with({ isOptional: true, skipsEmpty: true });
  }

  /** Omitted unless the owner meets the condition. */
  when<W>(condition: (owner: W) => boolean): Field<O & W, C> {
    return this.#with({ isOptional: true, when: condition as (owner: unknown) => boolean });
  }

  /**
   * XML shows it only if the owner meets the condition, as the original API does; JSON always. Readers accept it
   * always.
   */
  inXmlWhen<W>(condition: (owner: W) => boolean): Field<O & W, C> {
    return this.#with({ isOptional: true, inXmlWhen: condition as (owner: unknown) => boolean });
  }

  only(version: Version): Field<O, C> {
    return this.#with({ only: version });
  }

  /** A Kiln extension in a document of the original API. Only JSON shows it. */
  inJson(): Field<{ [P in keyof O]?: O[P] | null | undefined }, C> {
    return this.#with({ isOptional: true, isJsonOnly: true });
  }

  /** A reader refuses a document without it. */
  required(): Field<O, Required<C>> {
    return this.#with({ reading: "required" });
  }

  /** A reader accepts it and ignores its content. */
  ignored(): Field<O> {
    return this.#with({ reading: "ignored" });
  }

  /** A reader accepts it by this name too. */
  alsoNamed(alias: string): Field<O, C> {
    return this.#with({ alias });
  }

  /** Reads it with a different reader than its shape's. */
  readBy(read: (node: XmlNode, path: string) => C[keyof C]): Field<O, C> {
    return this.#with({ readBy: read });
  }

  /** Reads properties of the owner from it, with a different reader than its shape's. */
  readInto<D extends object>(read: (node: XmlNode, path: string) => D): Field<O, D> {
    return this.#with({ readBy: read, isReadIntoOwner: true, reading: "optional" });
  }

  /** Shows a different value than the stored one. */
  shownAs<V extends O[keyof O]>(show: (value: O[keyof O]) => V): Field<O, C> {
    const { get } = this.part;
    return this.#with({ get: (owner, viewer) => show(get(owner, viewer) as O[keyof O]) });
  }

  /** Limits of a number, inclusive. */
  range(min: number, max: number, unit = ""): Field<O, C> {
    return this.#with({ range: { min, max, unit } });
  }

  /** Refuses a text that does not match the pattern. `why` has no full stop. */
  like(pattern: RegExp, why: string): Field<O, C> {
    return this.#with({ pattern: { pattern, why } });
  }

  /** The value for a stored document without the field. */
  initially(value: O[keyof O]): Field<O, C> {
    return this.#with({ initial: value });
  }

  /** Adds the question with which a form asks for the field. */
  asked(label: string, question: Omit<Question, "label"> = {}): Field<O, C> {
    return this.#with({ question: { label, ...question } });
  }

  /** States why no form has the field. */
  notAsked(why: string): Field<O, C> {
    return this.#with({ notAsked: why });
  }

  /** States why an import from the description of an image cannot read it. */
  notImported(why: string): Field<O, C> {
    return this.#with({ notImported: why });
  }

  #with<P, D>(change: Partial<Part>): Field<P, D> {
    return new Field<P, D>({ ...this.part, ...change });
  }
}

export type AnyFields = Readonly<Record<string, AnyField>>;

/** The type with every property that the fields are written from. */
export type OwnerOf<F extends AnyFields> = Plain<
  Joined<{ [K in keyof F]: F[K] extends AnyField<infer O> ? (one: O) => void : never }>
>;
type ChangeOf<F extends AnyFields> = Plain<
  Joined<{ [K in keyof F]: F[K] extends AnyField<never, infer C> ? (one: C) => void : never }>
>;
/** Merges an intersection into one object type. */
type Plain<T> = T extends object ? { -readonly [K in keyof T]: T[K] } : T;
type Joined<T> = T[keyof T] extends (all: infer A) => void ? A : never;

/** Gets a field's value from its owner. */
type Getter<O, V> = (owner: O, viewer: Viewer) => V | null | undefined;

function field<V, A extends readonly unknown[]>(shapeOf: (...example: A) => LeafShape<V>) {
  function of<K extends string>(key: K, ...example: A): Field<Readonly<Record<K, V>>, Partial<Record<K, V>>>;
  function of<O>(get: Getter<O, V>, ...example: A): Field<O>;
  function of(source: string | Getter<never, V>, ...example: A): AnyField {
    return fieldOf(source, shapeOf(...example));
  }
  return of;
}

export const text = field(leaves.text);
export const lines = field(leaves.lines);
export const script = field(leaves.script);
export const password = field(leaves.password);
export const words = field(leaves.words);
export const id = field(leaves.id);
export const int = field(leaves.int);
export const megabytes = field(leaves.megabytes);
export const bool = field(leaves.bool);
export const url = field(leaves.url);
export const version = field(leaves.version);
export const digest = field(leaves.digest);
export const time = field(leaves.time);

export function oneOf<K extends string, const V extends string>(
  key: K,
  values: readonly V[],
  example?: NoInfer<V>,
): Field<Readonly<Record<K, V>>, Partial<Record<K, V>>>;
export function oneOf<O, const V extends string>(
  get: Getter<O, V>,
  values: readonly V[],
  example?: NoInfer<V>,
): Field<O>;
export function oneOf(source: string | Getter<never, string>, values: readonly string[], example?: string): AnyField {
  return fieldOf(source, leaves.oneOf(values, example));
}

/** An element with its own shape. */
export function inside<K extends string, T, C>(
  key: K,
  shape: Shape<T, C>,
): Field<Readonly<Record<K, T>>, Partial<Record<K, C>>>;
export function inside<O, T>(get: Getter<O, T>, shape: Shape<T>): Field<O>;
export function inside(source: string | Getter<never, unknown>, shape: AnyShape): AnyField {
  return fieldOf(source, shape);
}

/** Groups fields of one owner in a separate element. */
export const group = <O, C>(shape: Shape<O, C>): Field<O, C> =>
  new Field({ ...plain, shape, key: undefined, get: (owner) => owner });

/** Any number of elements of one name, without an element around them. */
export function repeated<K extends string, T, C>(
  key: K,
  shape: Shape<T, C>,
): Field<Readonly<Record<K, readonly T[]>>, Partial<Record<K, C[]>>>;
export function repeated<O, T>(get: Getter<O, readonly T[]>, shape: Shape<T>): Field<O>;
export function repeated(source: string | Getter<never, unknown>, shape: AnyShape): AnyField {
  return new Field({ ...fieldOf(source, shape).part, isRepeated: true });
}

/** Fields of a property of the owner, as if they were the owner's. */
export function through<K extends string, F extends AnyFields>(
  key: K,
  fields: F,
): { [N in keyof F]: F[N] extends AnyField<infer O, infer C> ? Field<Readonly<Record<K, O>>, C> : never };
export function through(key: string, fields: AnyFields): AnyFields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, { part }]) => {
      const { when } = part;
      const get: Part["get"] = (owner, viewer) => part.get(propertyOf(owner, key), viewer);
      const lifted = when && { when: (owner: unknown) => when(propertyOf(owner, key)) };
      return [name, new Field({ ...part, get, ...lifted })];
    }),
  );
}

/** An element that contains elements in this order. */
export function fields<F extends AnyFields>(fields: F): Fields & Shape<OwnerOf<F>, ChangeOf<F>> {
  return { kind: "fields", fields: partsOf(fields) };
}

/** Reads an element with a different reader than its fields'. */
export const readAs = <T, C>(
  { kind, fields }: Fields & Shape<T>,
  read: (node: XmlNode, path: string) => C,
): Fields & Shape<T, C> => ({ kind, fields, readBy: read });

/** An element with attributes around text or elements of the same owner. */
export function marked<A extends AnyFields, O, C>(
  attributes: A,
  value: AnyField<O, C> | (Fields & Shape<O, C>),
): Marked & Shape<OwnerOf<A> & O, ChangeOf<A> & C> {
  return { kind: "marked", attributes: partsOf(attributes), value: "part" in value ? value.part : value };
}

/** A list with `type="array"`. */
export const arrayOf = <T, C>(item: string, of: Shape<T, C>) => list<T, C>({ item, of, mark: "array" });
/** A list with `count="3"`. */
export const countedOf = <T, C>(item: string, of: Shape<T, C>) => list<T, C>({ item, of, mark: "count" });
/** A list without an attribute. */
export const plainListOf = <T, C>(item: string, of: Shape<T, C>) => list<T, C>({ item, of, mark: "nothing" });

/** A list with `type="array"` and attributes of its owner. */
export function markedArrayOf<A extends AnyFields, O, T>(
  attributes: A,
  items: (owner: O) => readonly T[],
  { item, of }: { item: string; of: Shape<T> },
): List & Shape<OwnerOf<A> & O> {
  const itemsOf = items as List["itemsOf"];
  return { kind: "list", item, of, mark: "array", attributes: partsOf(attributes), itemsOf };
}

function list<T, C>({ item, of, mark }: Pick<List, "item" | "of" | "mark">): List & Shape<readonly T[], C[]> {
  return { kind: "list", item, of, mark, attributes: {}, itemsOf: (value) => value as readonly unknown[] };
}

const plain = {
  isRepeated: false,
  isOptional: false,
  skipsEmpty: false,
  isJsonOnly: false,
  reading: "optional",
} as const;

function fieldOf(source: string | Getter<never, unknown>, shape: AnyShape): Field {
  if (typeof source !== "string")
    return new Field({ ...plain, shape, key: undefined, get: source as Part["get"], reading: "ignored" });
  return new Field({ ...plain, shape, key: source, get: (owner) => propertyOf(owner, source) });
}

const propertyOf = (owner: unknown, key: string): unknown => (owner as Record<string, unknown>)[key];

const partsOf = (fields: AnyFields): Record<string, Part> =>
  Object.fromEntries(Object.entries(fields).map(([name, { part }]) => [name, part]));

/** The attributes of a list's start tag, with examples. */
export function listAttributes({ mark, attributes }: List): Marked["attributes"] {
  const marks: Record<List["mark"], Marked["attributes"]> = {
    array: { type: oneOf("type", ["array"]).part },
    count: { count: int("count", 1).part },
    nothing: {},
  };
  return { ...marks[mark], ...attributes };
}
