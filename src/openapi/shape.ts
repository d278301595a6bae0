/**
 * Documents whose views are still written by hand: the same words as `#wire/field`, without where the values come from. A noun
 * that moves to `src/documents` leaves this file.
 */
import type { ImageType } from "#contract/index";
import * as leaves from "#wire/leaf";
import {
  document as documentOf,
  type AnyLeaf,
  type AnyShape,
  type Document,
  type Part,
  type Version,
} from "#wire/shape";
import type * as wire from "#wire/shape";

interface Presence {
  optional?: true;
  only?: Version;
  inJson?: true;
  repeated?: true;
}
export type Shape = AnyShape & Presence;
export type Leaf = AnyLeaf & Presence;
export type Fields = wire.Fields & Presence & { readonly given: Readonly<Record<string, Shape>> };

export const text = (example: string): Leaf => leaves.text(example);
export const oneOf = (example: string, ...others: readonly string[]): Leaf => leaves.oneOf([example, ...others]);
export const id = (example: number): Leaf => leaves.id(example);
export const int = (example: number): Leaf => leaves.int(example);
export const bool = (example: boolean): Leaf => leaves.bool(example);
export const url = (example: string): Leaf => leaves.url(example);
export const version = (example: string): Leaf => leaves.version(example);
export const digest = (example: string): Leaf => leaves.digest(example);
export const time = (example: string): Leaf => leaves.time(example);
export const imageType = (example: ImageType): Leaf => text(example);

export const fields = (given: Fields["given"]): Fields => ({ kind: "fields", fields: partsOf(given), given });
export const arrayOf = (item: string, of: Shape, attributes: Record<string, Leaf> = {}): Shape =>
  list({ item, of, says: "array", attributes: partsOf(attributes) });
export const countedOf = (item: string, of: Shape): Shape => list({ item, of, says: "count", attributes: {} });
export const plainListOf = (item: string, of: Shape): Shape => list({ item, of, says: "nothing", attributes: {} });
export const repeated = (of: Shape): Shape => ({ ...of, repeated: true });
export const marked = (attributes: Record<string, Leaf>, value: Leaf | Fields): Shape => ({
  kind: "marked",
  attributes: partsOf(attributes),
  value: value.kind === "fields" ? value : partOf(value),
});
export const optional = <T extends Shape>(shape: T): T => ({ ...shape, optional: true });
export const only = <T extends Shape>(version: Version, shape: T): T => ({ ...shape, only: version });
export const inJson = (shape: Leaf): Leaf => ({ ...shape, optional: true, inJson: true });
export const document = (name: string, root: string, shape: Shape): Document => documentOf(name, root, shape);

const list = (parts: Omit<wire.List, "kind" | "itemsOf">): Shape => ({ kind: "list", ...parts, itemsOf: () => [] });

const partsOf = (given: Record<string, Shape>): Record<string, Part> =>
  Object.fromEntries(Object.entries(given).map(([name, shape]) => [name, partOf(shape)]));

const partOf = (shape: Shape): Part => ({
  shape,
  key: undefined,
  get: () => undefined,
  isRepeated: shape.repeated === true,
  isOptional: shape.optional === true,
  only: shape.only,
  isJsonOnly: shape.inJson === true,
  skipsEmpty: false,
  reading: "ignored",
});
