import { definition } from "#lib/definition/document";
import type { Definition } from "#domain/definitions/definition";
import { rest } from "#lib/loop/pace";
import type { Configuration } from "#lib/configuration/stored";
import { writeJson } from "#lib/wire/json";
import { viewOf } from "#lib/wire/view";

/**
 * A value that differs, with its path in the document. `item` is the item of a list. `from` is absent if the value was
 * added, `to` if it was removed.
 */
export interface DefinitionChange {
  name: string;
  item?: string;
  from?: string;
  to?: string;
}

/** The differences between two definitions. Neither contains passwords. */
export async function changesBetween(before: Definition, after: Definition): Promise<DefinitionChange[]> {
  const was = await valuesOf(before);
  const is = await valuesOf(after);
  await rest();
  const keys = [...new Set([...was.keys(), ...is.keys()])];
  const changes = keys.flatMap((key) => {
    const [from, to] = [was.get(key), is.get(key)];
    if (from === to) return [];
    const [name = "", item] = key.split(separator);
    return [
      {
        name,
        ...(item !== undefined && { item }),
        ...(from !== undefined && { from: shortened(from) }),
        ...(to !== undefined && { to: shortened(to) }),
      },
    ];
  });
  await rest();
  return [...changes, ...orderChanges([...was.keys()], [...is.keys()])];
}

/** Reports lists that have the same items in a different order. */
function orderChanges(before: string[], after: string[]): DefinitionChange[] {
  const [was, is] = [before, after].map((keys) => Map.groupBy(keys, (key) => key.split(separator)[0] ?? ""));
  return [...(is ?? [])].flatMap(([name, items]) => {
    const old = was?.get(name) ?? [];
    const isMoved = String(old) !== String(items) && String(old.toSorted()) === String(items.toSorted());
    return isMoved ? [{ name, to: "a different order" }] : [];
  });
}

/** Shortens a text, because scripts and keys have many lines. */
const shortened = (text: string): string => {
  const line = text.replaceAll("\n", "\\n");
  return line.length <= maxShown ? line : `${line.slice(0, maxShown)}…`;
};
const maxShown = 200;

/** Passwords that differ. Both configurations are as stored, and equal passwords have equal encrypted texts. */
export function passwordChanges(before: Configuration, after: Configuration): DefinitionChange[] {
  const known = new Map(passwordsOf(before).map(({ name, item, password }) => [name + item, password]));
  const changed = passwordsOf(after).filter((one) => (known.get(one.name + one.item) ?? one.password) !== one.password);
  return changed.map(({ name, item }) => ({ name, item, to: "a different password" }));
}

/** Each password, with the user that it belongs to. */
export const passwordsOf = ({ users, databases }: Configuration) => [
  ...users.map(({ name, password }) => ({ name: "configuration/users/password", item: name, password })),
  ...databases.flatMap(({ type, users: ofDatabase }) =>
    ofDatabase.map(({ username, password }) => ({
      name: `configuration/databases/${type}/password`,
      item: username,
      password,
    })),
  ),
];

/** Separates a name from its item. Items cannot contain it. */
const separator = "\n";
const viewer = { baseUrl: "", version: { name: "v2" } } as const;

/** Each value, by its path. The key of a list item is its name, and its value is the rest of the item. */
async function valuesOf(shown: Definition): Promise<Map<string, string>> {
  const view = viewOf(definition, shown, viewer);
  await rest();
  const { definition: document } = JSON.parse(writeJson("definition", view));
  await rest();
  return new Map(pairsOf("", document).filter(([key]) => key !== "id"));
}

function pairsOf(path: string, value: unknown): [string, string][] {
  if (Array.isArray(value)) return itemsOf(path, value);
  if (typeof value !== "object" || value === null) return [[path, String(value)]];
  return Object.entries(value).flatMap(([name, member]) => pairsOf(path === "" ? name : `${path}/${name}`, member));
}

function itemsOf(path: string, items: readonly unknown[]): [string, string][] {
  const seen = new Map<string, number>();
  return items.map((item) => {
    const { name, text } = nameIn(item);
    const nth = (seen.get(name) ?? 0) + 1;
    seen.set(name, nth);
    const shown = name.replaceAll(separator, " ");
    return [`${path}${separator}${nth === 1 ? shown : `${shown} (${nth})`}`, text];
  });
}

/** The fields that can serve as an item's name for people, best first. */
const nameFields = ["name", "kind", "path", "username", "command", "type", "url"] as const;

/** The name of an item, and its other fields. Only the repository of the account's own packages has no name. */
function nameIn(item: unknown): { name: string; text: string } {
  if (typeof item !== "object" || item === null) return { name: String(item), text: String(item) };
  const fields: Partial<Record<string, unknown>> = { ...item };
  const naming = nameFields.find((field) => fields[field] !== undefined);
  const others = Object.entries(fields).filter(([field, value]) => field !== naming && (value ?? "") !== "");
  const text = others.map(([field, value]) => `${field} ${textOf(value)}`);
  return { name: naming ? String(fields[naming]) : "uploads", text: text.join(", ") };
}

const textOf = (value: unknown): string => (typeof value === "object" ? JSON.stringify(value) : String(value));
