import { configuration, configurationChange } from "#documents/configuration";
import type { ConfigurationChange } from "#domain/configuration/change";
import type { ShownConfiguration } from "#domain/configuration/of-appliance";
import { Refusal } from "#domain/refusal";
import { WireFault } from "#wire/fault";
import { readJson } from "#wire/read-json";
import { readDocument } from "#wire/read";
import { writeJson } from "#wire/json";
import { viewOf } from "#wire/view";
import type { Setting } from "./sections.ts";

/** The forms speak of the same document as the API, so its reader reads them. */

const viewer = { baseUrl: "", version: { name: "v2" } } as const;

/** What a field of a form shows. A list is written with commas. */
export function shownValue(shown: ShownConfiguration, { path, kind, stored }: Setting): string {
  if (stored) return stored(shown.configuration);
  const document: unknown = JSON.parse(writeJson("configuration", viewOf(configuration, shown, viewer)));
  const names = ["configuration", ...path.split("/")];
  // In JSON, a list has no elements of its own.
  if (kind === "list" && names.at(-1) === "tag") names.pop();
  const value = names.reduce<unknown>((owner, name) => Object(owner)[name], document);
  if (Array.isArray(value)) return value.join(", ");
  return value === undefined || value === null ? "" : String(value);
}

/** The change that a form makes. A switch that is off is not sent; an empty field empties its value. */
export function changeOf(settings: readonly Setting[], values: Readonly<Record<string, string>>): ConfigurationChange {
  const document = {};
  for (const setting of settings) put(document, setting, values[setting.path] ?? "");
  try {
    return readDocument(
      configurationChange,
      readJson(configurationChange, JSON.stringify({ configuration: document })),
    );
  } catch (error) {
    if (error instanceof WireFault) throw new Refusal(error.code, { message: error.message });
    throw error;
  }
}

function put(document: object, { path, kind }: Setting, value: string): void {
  const names = path.split("/");
  if (kind === "list" && names.at(-1) === "tag") names.pop();
  const last = names.pop() ?? "";
  const owner = names.reduce<object>((each, name) => {
    const inner: object = Reflect.get(each, name) ?? {};
    Reflect.set(each, name, inner);
    return inner;
  }, document);
  Reflect.set(owner, last, written(kind, value));
}

function written(kind: Setting["kind"], value: string): unknown {
  if (kind === "switch") return value === "true";
  return kind === "list" ? value.split(/[,\s]+/).filter((item) => item !== "") : value;
}
