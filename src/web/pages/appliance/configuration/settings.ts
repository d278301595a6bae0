import { configuration } from "#lib/configuration/document";
import type { ShownConfiguration } from "#domain/configuration/of-appliance";
import { shownIn, type AnyShape, type Part } from "#lib/wire/shape";
import type { BaseSystemFacts } from "#model/catalogue";
import { askedField } from "./asked-field.ts";
import type { FormField } from "./form-field.tsx";

export interface Setting extends FormField {
  page: string;
  isFirst: boolean;
  /** The displayed value. */
  valueIn: (shown: ShownConfiguration) => string;
}

const viewer = { baseUrl: "", version: { name: "v2" } } as const;

/** The path that the domain reports if one value of a list is wrong. */
const nameOf = (path: string, { shape }: Part): string => (shape.kind === "list" ? `${path}/${shape.item}` : path);

function settingsIn(shape: AnyShape, path = "", owner: (shown: ShownConfiguration) => unknown = (shown) => shown) {
  if (shape.kind !== "fields") return [];
  return shownIn("v2", shape).flatMap(([name, part]): Setting[] => {
    const at = path === "" ? name : `${path}/${name}`;
    const value = (shown: ShownConfiguration): unknown => part.get(owner(shown), viewer);
    const { page, isFirst = false } = part.question ?? {};
    if (page === undefined) return settingsIn(part.shape, at, value);
    return [{ ...askedField(nameOf(at, part), part), page, isFirst, valueIn: (shown) => textOf(part, value(shown)) }];
  });
}

function textOf({ shape, isRepeated }: Part, value: unknown): string {
  if (value === undefined || value === null) return "";
  if (shape.kind === "leaf" && !isRepeated) return String(shape.write(value));
  return Array.isArray(value) ? value.join(", ") : "";
}

/** All settings that are one form field each. The lists have their own forms. */
const settings = settingsIn(configuration.shape);

/** The settings that a form offers for a base system, with only those choices whose packages the base system has. */
export const settingsFor = (settings: readonly Setting[], base: Partial<BaseSystemFacts> | undefined): Setting[] =>
  settings.flatMap((setting): Setting[] => {
    const { ofBase, options } = setting;
    if (ofBase === undefined) return [setting];
    const known = base?.[ofBase];
    if (known === undefined) return [];
    // The first choice needs no packages.
    return [{ ...setting, ...(options && { options: options.filter(([value], at) => at === 0 || value in known) }) }];
  });

/** The settings of a page, in their order on it. */
export const settingsOf = (page: string): Setting[] =>
  settings.filter((setting) => setting.page === page).toSorted((a, b) => Number(b.isFirst) - Number(a.isFirst));
