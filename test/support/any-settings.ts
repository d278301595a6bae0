import type { Configuration } from "#lib/configuration/stored";
import type { Part } from "#lib/wire/shape";
import * as fc from "./properties.ts";
import { settingsParts, storedSettings } from "./settings.ts";

/** Any values that the API accepts. A text is either empty or the one from the example. */
export const anySettings: fc.Arbitrary<Configuration["settings"]> = fc
  .record(Object.fromEntries(settingsParts.map(([, part]) => [part.key ?? "", anyValueOf(part)])))
  .map((some) => storedSettings.parse(some));

function anyValueOf({ shape, range, initial }: Part): fc.Arbitrary<string | number | boolean> {
  if (shape.kind !== "leaf" || shape.example instanceof Date) throw new Error("settings are single values");
  if (shape.schema.type === "boolean") return fc.boolean();
  if (range) return fc.integer(range);
  return initial === "" ? fc.constantFrom("", shape.example) : fc.constant(shape.example);
}
