import { Refusal } from "#domain/refusal";
import type { Choice } from "#domain/software/resolution-request";

/** The key of an entry. A selection contains each key once. */
export const keyOf = ({ kind, name }: Pick<Choice, "kind" | "name">): string => `${kind} ${name}`;

// Names that rpm allows for packages. zypper would interpret others as globs, removals or repository aliases.
const packageName = /^[A-Za-z0-9_][A-Za-z0-9._+-]{0,199}$/;

export function checkName(name: string): void {
  if (packageName.test(name)) return;
  const message = name === "" ? "A package or pattern has no name." : `${name} is not a valid package name.`;
  throw new Refusal("invalid_value", { message });
}

// [epoch:]version[-release], as rpm writes it.
const packageVersion = /^(\d{1,9}:)?[A-Za-z0-9][A-Za-z0-9._+~^]{0,127}(-[A-Za-z0-9._+~^]{1,127})?$/;

export function checkVersion(version: string | undefined, code: "invalid_version" | "invalid_value"): void {
  if (version === undefined || packageVersion.test(version)) return;
  throw new Refusal(code, { message: `${version} is not a valid package version.` });
}
