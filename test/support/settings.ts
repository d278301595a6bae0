import { settings } from "#lib/configuration/settings";
import type { Configuration } from "#lib/configuration/stored";
import type { Part } from "#lib/wire/shape";
import { storedSchema } from "#lib/wire/stored";
import * as fc from "./properties.ts";

/* The section `settings` of a configuration. A new field of it is in all tests that use these, without a change to them. */

type Settings = Configuration["settings"];

const stored = storedSchema(settings);
const parts = Object.entries(settings.fields);

/** These, and initial values in all other fields. */
export const settingsWith = (some: Partial<Settings>): Settings =>
  stored.parse({ memorySizeMb: 256, diskSizeMb: 700, ...some });

/** The same as a document shows them, in its order. */
export const shownSettingsWith = <S>(some: Partial<NoInfer<S>>): S =>
  Object.assign({}, ...parts.map(([name, { initial }]) => ({ [name]: initial })), some);

/** Any values that the API accepts. A text is empty, or that of the example. */
export const anySettings: fc.Arbitrary<Settings> = fc
  .record(Object.fromEntries(parts.map(([, part]) => [part.key ?? "", anyValueOf(part)])))
  .map((some) => stored.parse(some));

function anyValueOf({ shape, range, initial }: Part): fc.Arbitrary<string | number | boolean> {
  if (shape.kind !== "leaf" || shape.example instanceof Date) throw new Error("settings are single values");
  if (shape.schema.type === "boolean") return fc.boolean();
  if (range) return fc.integer(range);
  return initial === "" ? fc.constantFrom("", shape.example) : fc.constant(shape.example);
}
