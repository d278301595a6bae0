import { Refusal } from "#domain/refusal";
import type { XmlNode } from "#xml/read";

/** Reads an element that stands at `path`, such as `settings/memory_size`; refuses what it cannot be. */
export type Reader<T> = (node: XmlNode, path: string) => T;

/** What `fields` makes of its readers. */
type Fields<R extends Record<string, Reader<unknown>>> = { [K in keyof R]?: ReturnType<R[K]> };

/**
 * An element of elements, each at most once. The readers' names are the elements' in camel case; `-` and `_` in an
 * element's name are alike, and attributes say nothing (wire.md §2.4).
 */
export function fields<R extends Record<string, Reader<unknown>>>(readers: R): Reader<Fields<R>> {
  const known = new Map(Object.entries(readers).map(([key, reader]) => [elementName(key), { key, reader }]));
  return (node, path) => {
    refuseText(node, path);
    const read = new Map<string, unknown>();
    for (const child of node.children) {
      const at = pathOf(child, path);
      const field = known.get(plainName(child));
      if (!field) throw unknownElement(at);
      if (read.has(field.key)) throw refused(at, "stands there twice");
      read.set(field.key, field.reader(child, at));
    }
    // Every entry comes from the reader of its name.
    return Object.fromEntries(read) as Fields<R>;
  };
}

/** The same, with elements that must be there. */
export function complete<R extends Record<string, Reader<unknown>>, K extends keyof R & string>(
  readers: R,
  ...keys: K[]
): Reader<Fields<R> & Required<Pick<Fields<R>, K>>> {
  const reader = fields(readers);
  return (node, path) => {
    const read = reader(node, path);
    if (hasAll(read, keys)) return read;
    const missing = keys.find((key) => read[key] === undefined) ?? "";
    throw refused(`${path}/${elementName(missing)}`, "is missing");
  };
}

/** A list element whose items all have one name. */
export function list<T>(item: string, reader: Reader<T>): Reader<T[]> {
  return (node, path) => {
    refuseText(node, path);
    return node.children.map((child) => {
      const at = pathOf(child, path);
      if (plainName(child) !== item) throw unknownElement(at);
      return reader(child, at);
    });
  };
}

/** One line, without the white space around it. */
export function line(node: XmlNode, path: string): string {
  refuseChildren(node, path);
  return node.text;
}

/** Text with all its white space; only that: nothing. */
export function exactText(node: XmlNode, path: string): string {
  refuseChildren(node, path);
  return node.text === "" ? "" : node.exactText.replace(/\r\n?/g, "\n");
}

/** A kernel knows a script by its very first characters. */
export const script: Reader<string> = (node, path) => exactText(node, path).trimStart();

/** A password, which may begin or end with a space. */
export function password(node: XmlNode, path: string): string {
  refuseChildren(node, path);
  return node.exactText;
}

/** `true`, `1`, `True` … */
export function flag(node: XmlNode, path: string): boolean {
  const text = line(node, path);
  if (!/^(true|false|1|0)$/i.test(text)) throw refused(path, "must be true or false");
  return /^(true|1)$/i.test(text);
}

export function wholeNumber(node: XmlNode, path: string): number {
  const text = line(node, path);
  if (!/^\d{1,9}$/.test(text)) throw refused(path, "must be a whole number");
  return Number(text);
}

/** A size: a whole number, and which unit it names if any. */
export function size(node: XmlNode, path: string): { amount: number; unit: "M" | "G" | undefined } {
  const [, amount, unit] = /^(\d{1,9}) ?(?:([MG])B?)?$/i.exec(line(node, path)) ?? [];
  if (amount === undefined) throw refused(path, "must be a whole number, with the unit M or G if need be");
  return { amount: Number(amount), unit: unit === undefined ? undefined : /g/i.test(unit) ? "G" : "M" };
}

/** A size in megabytes, which is what a bare number says. */
export function megabytes(node: XmlNode, path: string): number {
  const { amount, unit } = size(node, path);
  return unit === "G" ? amount * 1024 : amount;
}

export function oneOf<T extends string>(values: readonly T[]): Reader<T> {
  return (node, path) => {
    const text = line(node, path);
    const known = values.find((value) => value === text);
    if (known === undefined) throw refused(path, `must be one of ${values.join(", ")}`);
    return known;
  };
}

/** What a reader makes of an element, made into something else. */
export function mapped<T, U>(reader: Reader<T>, change: (value: T) => U): Reader<U> {
  return (node, path) => change(reader(node, path));
}

/** An element's name with `_` for `-`. */
export const plainName = ({ name }: XmlNode): string => name.replaceAll("-", "_");

export const unknownElement = (path: string): Refusal =>
  new Refusal("invalid_node", { message: `The element ${path} is not known here.` });

const refused = (path: string, why: string) => new Refusal("invalid_value", { message: `${path}: ${why}.` });

const pathOf = (child: XmlNode, path: string) => (path === "" ? plainName(child) : `${path}/${plainName(child)}`);

const elementName = (key: string) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function hasAll<T, K extends keyof T>(value: T, keys: K[]): value is T & Required<Pick<T, K>> {
  return keys.every((key) => value[key] !== undefined);
}

function refuseText(node: XmlNode, path: string): void {
  if (node.text !== "") throw refused(path || "configuration", "holds elements, no text");
}

function refuseChildren(node: XmlNode, path: string): void {
  const [child] = node.children;
  if (child) throw unknownElement(pathOf(child, path));
}
