import { ServiceRefusal } from "../client/failure.ts";
import { applianceSchema, type Schema } from "./check.ts";

/**
 * The refusal of a value of a definition, which the service names by its path in XML, with the name that people use.
 */
export function withNames(error: unknown, nameOf: (path: readonly string[]) => string): unknown {
  if (!(error instanceof ServiceRefusal)) return error;
  const { path, rest } = refusedIn(error);
  if (path.length === 0) return error;
  const { code, status, call } = error;
  return new ServiceRefusal({ code, status, call, message: `${nameOf(path)}${rest}` });
}

/** The path that a refusal names, if it names any: `configuration`, `network`, `ip`. `rest` is the message about it. */
export function refusedIn({ message }: ServiceRefusal): { path: readonly string[]; rest: string } {
  const [, named, rest = ""] = /^(?:The element )?([a-z_]+(?:\/[a-z_]+)*)(?=[: ])(.*)$/s.exec(message) ?? [];
  const path = named === undefined ? [] : memberNames(named.split("/"));
  const isOfFile = applianceSchema.properties?.[path[0] ?? ""] !== undefined;
  return isOfFile ? { path, rest } : { path: [], rest: message };
}

/** A path without the names that only XML has, which are those of a list's items: `users/user/name` is `users.name`. */
export function memberNames(steps: readonly string[]): string[] {
  let schema: Schema | undefined = applianceSchema;
  const names: string[] = [];
  for (const step of steps) {
    const items: Schema | undefined = schema?.type === "array" ? schema.items : undefined;
    const isItem: boolean = items !== undefined && items.properties?.[step] === undefined;
    if (!isItem) names.push(step);
    schema = isItem ? items : (items ?? schema)?.properties?.[step];
  }
  return names;
}
