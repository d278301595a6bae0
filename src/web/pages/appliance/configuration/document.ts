import { configuration, configurationChange } from "#documents/configuration";
import type { ConfigurationChange } from "#domain/configuration/change";
import type { ShownConfiguration } from "#domain/configuration/of-appliance";
import { Refusal } from "#domain/refusal";
import { WireFault } from "#wire/fault";
import { readJson } from "#wire/read-json";
import { readDocument } from "#wire/read";
import { writeJson } from "#wire/json";
import { viewOf } from "#wire/view";
import type { FormField } from "./form-field.tsx";
import type { Setting } from "./sections.ts";

/** The forms are about the same document as the API, so its reader reads them. */

const viewer = { baseUrl: "", version: { name: "v2" } } as const;

/** What a field of a form shows. A list is separated by commas. */
export function shownValue(shown: ShownConfiguration, { name, kind, stored }: Setting): string {
  if (stored) return stored(shown.configuration);
  const document: unknown = JSON.parse(writeJson("configuration", viewOf(configuration, shown, viewer)));
  const names = ["configuration", ...name.split("/")];
  // In JSON, a list has no elements of its own.
  if (kind === "list" && names.at(-1) === "tag") names.pop();
  const value = names.reduce<unknown>((owner, name) => Object(owner)[name], document);
  if (Array.isArray(value)) return value.join(", ");
  return value === undefined || value === null ? "" : String(value);
}

/** The change that a form makes. A switch that is off is not sent; an empty field empties its value. */
export function changeOf(settings: readonly Setting[], values: Readonly<Record<string, string>>): ConfigurationChange {
  const document = {};
  for (const setting of settings) put(document, setting, values[setting.name] ?? "");
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

function put(document: object, { name, kind }: Setting, value: string): void {
  const names = name.split("/");
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

/** The field that a refusal of the domain names by its path in the document, and the message for it. */
export function faultIn(
  { code, message }: Refusal,
  fields: readonly FormField[],
): readonly [field: string, sentence: string] | undefined {
  const [, path, why] = /^([\w/]+): (.*)$/s.exec(code === "invalid_value" ? message : "") ?? [];
  if (path === undefined || why === undefined) return undefined;
  const last = path.split("/").at(-1);
  const field = fields.find(({ name }) => name === path) ?? fields.find(({ name }) => name.split("/").at(-1) === last);
  return field && [field.name, /^[A-Z]/.test(why) ? why : `${field.label}: ${why}`];
}
