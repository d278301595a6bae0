import { configurationChange } from "#lib/configuration/document";
import type { ConfigurationChange } from "#domain/configuration/change";
import type { Fault, Refusal } from "#domain/refusal";
import { WireFault } from "#lib/wire/fault";
import { readJson } from "#lib/wire/read-json";
import { readDocument } from "#lib/wire/read";
import { portField, type FormField } from "./form-field.tsx";
import type { Setting } from "./settings.ts";

/** The forms edit the same document as the API, so the API's reader also reads them. */

/** The submitted values of a form. `all` returns every value of a field that may appear several times. */
export interface SentValues {
  values: Readonly<Record<string, string>>;
  all: (name: string) => string[];
}

/**
 * The change that a form makes, and the values that cannot be read. A switch that is off is not sent. An empty field
 * clears its value.
 */
export function changeOf(
  settings: readonly Setting[],
  sent: SentValues,
): { change: ConfigurationChange; faults: Fault[] } {
  const document = {};
  const faults: Fault[] = [];
  for (const setting of settings) {
    const fault = faultOf(setting, sent);
    if (fault) faults.push(fault);
    else put(document, setting, sent);
  }
  return { change: read(document), faults };
}

function faultOf(setting: Setting, sent: SentValues): Fault | undefined {
  const alone = {};
  put(alone, setting, sent);
  try {
    read(alone);
    return undefined;
  } catch (error) {
    if (error instanceof WireFault) return { path: setting.name, why: reasonIn(error.message) };
    throw error;
  }
}

const read = (document: object): ConfigurationChange =>
  readDocument(configurationChange, readJson(configurationChange, JSON.stringify({ configuration: document })));

/** Removes the path before the reason, and the full stop. */
const reasonIn = (message: string): string => message.replace(/^[\w/]+: /, "").replace(/\.$/, "");

function put(document: object, { name, kind }: Setting, { values, all }: SentValues): void {
  const names = name.split("/");
  if (kind === "list") names.pop(); // Lists have no named elements in JSON.
  const last = names.pop() ?? "";
  const owner = names.reduce<object>((each, name) => {
    const inner: object = Reflect.get(each, name) ?? {};
    Reflect.set(each, name, inner);
    return inner;
  }, document);
  const value = values[name] ?? "";
  Reflect.set(
    owner,
    last,
    kind === "ports" ? [...new Set([...all(portField), ...wordsIn(value)])] : written(kind, value),
  );
}

function written(kind: Setting["kind"], value: string): unknown {
  if (kind === "switch") return value === "true";
  return kind === "list" ? wordsIn(value) : value;
}

const wordsIn = (text: string): string[] => text.split(/[,\s]+/).filter((word) => word !== "");

/** The message for each form field that a refusal of the domain names by its path in the document. */
export function faultsIn({ code, message, faults }: Refusal, fields: readonly FormField[]): Record<string, string> {
  const [, path, why] = /^([\w/]+): (.*)\.$/s.exec(code === "invalid_value" ? message : "") ?? [];
  const all = faults.length > 0 ? faults : path === undefined || why === undefined ? [] : [{ path, why }];
  return Object.fromEntries(
    all.flatMap((fault) => {
      const field = fieldAt(fault.path, fields);
      return field ? [[field.name, sentenceOf(field, fault.why)]] : [];
    }),
  );
}

function fieldAt(path: string, fields: readonly FormField[]): FormField | undefined {
  const last = path.split("/").at(-1);
  return fields.find(({ name }) => name === path) ?? fields.find(({ name }) => name.split("/").at(-1) === last);
}

const sentenceOf = ({ label }: FormField, why: string): string =>
  /^[A-Z]/.test(why) ? `${why}.` : `${label}: ${why}.`;
