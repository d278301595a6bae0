/** Catalogues and templates that are written as differences from other files. */
import { Complaint } from "./complaint.ts";

interface Extension {
  /** The file of the parent, in the same folder. */
  extends?: string;
  /** Texts of the parent, and what replaces them wherever they occur. */
  replace?: Record<string, string> | undefined;
}

/**
 * The parent with the changes of the extension. A value of the extension replaces the parent's value. An object,
 * however, changes it:
 *
 * - in an object, it removes the keys in `remove`, and changes or adds the others;
 * - in a list, it removes the elements in `remove`, which are texts or names, changes all others by `each`, and adds
 *   those in `add`. Any other key is the name of an element to change.
 *
 * Texts that are in alphabetical order stay in that order.
 */
export function extended(parent: unknown, extension: Extension): unknown {
  const changes = Object.entries(extension).filter(([key]) => key !== "extends" && key !== "replace");
  return changed(replaced(parent, Object.entries(extension.replace ?? {})), Object.fromEntries(changes));
}

/**
 * Elements of lists that are written as `{ "like": NAME, … }` become the earlier element of that name with the changes
 * of this one, by the same rules.
 */
export function withLikes(value: unknown): unknown {
  if (Array.isArray(value))
    return value.reduce<unknown[]>((earlier, one) => [...earlier, likeEarlier(one, earlier)], []);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, withLikes(one)]));
}

function likeEarlier(one: unknown, earlier: unknown[]): unknown {
  if (!isObject(one) || !("like" in one)) return withLikes(one);
  const { like, ...changes } = one;
  const model = earlier.find((other) => isObject(other) && other["name"] === like);
  if (model === undefined) throw new Complaint(`No earlier element is named ${JSON.stringify(like)}.`);
  return changed(model, changes);
}

function replaced(value: unknown, texts: [from: string, to: string][]): unknown {
  if (typeof value === "string") return texts.reduce((text, [from, to]) => text.replaceAll(from, to), value);
  if (Array.isArray(value))
    return inOrderOf(
      value,
      value.map((one) => replaced(one, texts)),
    );
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, replaced(one, texts)]));
}

function changed(value: unknown, change: unknown): unknown {
  if (!isObject(change)) return change;
  if (Array.isArray(value)) return changedList(value, change);
  return isObject(value) ? changedObject(value, change) : change;
}

function changedObject(object: Record<string, unknown>, { remove, ...changes }: Record<string, unknown>): unknown {
  const removed = listed(remove, Object.keys(object));
  const kept = Object.entries(object).filter(([key]) => !removed.includes(key));
  return Object.fromEntries([
    ...kept,
    ...Object.entries(changes).map(([key, one]) => [key, changed(object[key], one)]),
  ]);
}

function changedList(list: unknown[], { remove, add, each, ...changes }: Record<string, unknown>): unknown[] {
  const names = list.map((one) => (isObject(one) ? one["name"] : undefined));
  listed(Object.keys(changes), names);
  const removed = listed(remove, [...list, ...names]);
  const changesByName = new Map<unknown, unknown>(Object.entries(changes));
  const kept = list
    .map((one, at) => (changesByName.has(names[at]) ? changed(one, changesByName.get(names[at])) : one))
    .filter((one, at) => !removed.includes(one) && !removed.includes(names[at]))
    .map((one) => (each === undefined ? one : changed(one, each)));
  return inOrderOf(list, [...kept, ...(Array.isArray(add) ? add : [])]);
}

/** The names that a change lists. Each must be in the parent. */
function listed(names: unknown, known: unknown[]): unknown[] {
  const all = Array.isArray(names) ? names : [];
  const missing = all.find((one) => !known.includes(one));
  if (missing !== undefined) throw new Complaint(`Its parent has no ${JSON.stringify(missing)} to change or remove.`);
  return all;
}

function inOrderOf(before: unknown[], after: unknown[]): unknown[] {
  const isSorted = before.every((one, at) => typeof one === "string" && (at === 0 || String(before[at - 1]) <= one));
  return isSorted ? after.toSorted() : after;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
