import { z } from "zod";
import { unknownElement, wrongValue } from "#lib/wire/fault";
import type { XmlNode } from "#lib/wire/read-xml";
import type { Leaf, Text, Typed, ValueSchema } from "#lib/wire/shape";

const string = { schema: { type: "string" }, stored: z.string() } as const;
const integer = { schema: { type: "integer" }, stored: z.int().nonnegative() } as const;

/** A leaf whose reader returns the type that it writes. */
export type LeafShape<V> = Leaf<V> & Typed<V, V>;

/** One line of text. */
export const text = (example: string) => leaf(string, example, line);

/** Text with all its white space. Line ends become LF. White space alone counts as empty. */
export const lines = (example: string) => long(leaf(string, example, exactText));

/** A script, without white space at its start: the kernel recognises it by its first characters. */
export const script = (example: string) =>
  long(leaf(string, example, (node, path) => exactText(node, path).trimStart()));

/** A password, which may begin or end with a space. */
export const password = (example: string): LeafShape<string> => ({
  ...leaf(string, example, (node, path) => {
    refuseChildren(node, path);
    return node.exactText;
  }),
  isSecret: true,
});

/** A list of words in one element, written with `separator` and read with commas or white space. */
export const words = (example: readonly string[], separator: string): LeafShape<string[]> => ({
  kind: "leaf",
  schema: { type: "string" },
  example: example.join(separator),
  stored: z.array(z.string()),
  write: (value) => value.join(separator),
  read: (node, path) =>
    line(node, path)
      .split(/[,\s]+/)
      .filter((word) => word !== ""),
});

/** One of a few words. The default example is the first. */
export const oneOf = <const V extends string>(values: readonly V[], example?: NoInfer<V>) =>
  leaf<V>(
    { schema: { type: "string", enum: values }, stored: z.enum(values) },
    example ?? first(values),
    (node, path) => {
      const text = line(node, path);
      const known = values.find((value) => value === text);
      if (known === undefined) throw wrongValue(path, `must be one of ${values.join(", ")}`);
      return known;
    },
  );

export const id = (example: number) =>
  leaf({ ...integer, schema: { type: "integer", format: "int64" } }, example, wholeNumber);
export const int = (example: number) => leaf(integer, example, wholeNumber);

/** Whole megabytes. A client may add the unit M or G. */
export const megabytes = (example: number) =>
  leaf(integer, example, (node, path) => {
    const { amount, unit } = readSize(node, path);
    return unit === "G" ? amount * 1024 : amount;
  });

export const bool = (example: boolean) =>
  leaf({ schema: { type: "boolean" }, stored: z.boolean() }, example, (node, path) => {
    const text = line(node, path);
    if (!/^(true|false|1|0)$/i.test(text)) throw wrongValue(path, "must be true or false");
    return /^(true|1)$/i.test(text);
  });

export const url = (example: string) => leaf({ ...string, schema: { type: "string", format: "uri" } }, example, line);

/** A release of an appliance: `0.0.2`. */
export const version = (example: string) =>
  leaf({ ...string, schema: { type: "string", pattern: String.raw`^\d+\.\d+\.\d+$` } }, example, line);

/** A digest in hex. */
export const digest = (example: string) =>
  leaf({ ...string, schema: { type: "string", pattern: "^[0-9a-f]+$" } }, example, line);

/** A time. The example is in ISO 8601. */
export const time = (example: string) =>
  leaf({ schema: { type: "string" }, stored: z.date() }, new Date(example), (node, path) => new Date(line(node, path)));

/** A client's size: a whole number with the unit M or G, or without a unit. */
export function readSize(node: XmlNode, path: string): { amount: number; unit: "M" | "G" | undefined } {
  const [, amount, unit] = /^(\d{1,9}) ?(?:([MG])B?)?$/i.exec(line(node, path)) ?? [];
  if (amount === undefined) throw wrongValue(path, "must be a whole number, with an optional unit M or G");
  return { amount: Number(amount), unit: unit === undefined ? undefined : /g/i.test(unit) ? "G" : "M" };
}

/** The trimmed text of an element that contains no elements. */
export function line(node: XmlNode, path: string): string {
  refuseChildren(node, path);
  return node.text;
}

/** An element's name with `_` instead of `-`, because one client writes dashes. */
export const plainName = ({ name }: XmlNode): string => name.replaceAll("-", "_");

export const pathOf = (child: XmlNode, path: string): string =>
  path === "" ? plainName(child) : `${path}/${plainName(child)}`;

const long = <V>(shape: LeafShape<V>): LeafShape<V> => ({ ...shape, isLong: true });

/** A leaf whose value is written unchanged. Only a list of words needs more than this. */
function leaf<V extends Text>(
  { schema, stored }: { schema: ValueSchema; stored: z.ZodType<V> },
  example: V,
  read: Leaf<V>["read"],
): LeafShape<V> {
  return { kind: "leaf", schema, example, stored, write: (value) => value, read };
}

function exactText(node: XmlNode, path: string): string {
  refuseChildren(node, path);
  return node.text === "" ? "" : node.exactText.replace(/\r\n?/g, "\n");
}

function wholeNumber(node: XmlNode, path: string): number {
  const text = line(node, path);
  if (!/^\d{1,9}$/.test(text)) throw wrongValue(path, "must be a whole number");
  return Number(text);
}

function refuseChildren(node: XmlNode, path: string): void {
  const [child] = node.children;
  if (child) throw unknownElement(pathOf(child, path));
}

function first<V>([value]: readonly V[]): V {
  if (value === undefined) throw new Error("an enumeration needs a value");
  return value;
}
