import {
  isUsedBy,
  kindsOfChecks,
  maxCheckCommand,
  maxCheckMegabytes,
  maxChecks,
  maxCheckSeconds,
  maxCheckText,
  readMask,
} from "#lib/contract/index";
import type { Check } from "#domain/configuration/check";
import { isLine } from "#domain/configuration/rules";
import type { Configuration } from "#lib/configuration/stored";

type OneCheck = Configuration["checks"][number];
type Field = Exclude<keyof OneCheck, "kind">;

interface Rule {
  isRight: (value: OneCheck[Field]) => boolean;
  why: string;
}

const between =
  (min: number, max: number) =>
  (value: string | number): boolean =>
    Number(value) >= min && Number(value) <= max;

/**
 * Whether a text can be the path and query of a request: only characters that HTTP allows there, and none that begin a
 * new line or another host.
 */
const isTarget = (value: string | number): boolean =>
  /^\/(?!\/)[\w.~!$&'()*+,;=:@%/?-]*$/.test(String(value)) && String(value).length <= maxCheckText;

const rules: Readonly<Record<Field, Rule>> = {
  command: {
    isRight: (value) => value !== "" && isLine(String(value), maxCheckCommand),
    why: `must be one line of 1 to ${maxCheckCommand} characters`,
  },
  exit: { isRight: between(0, 255), why: "must be 0 to 255" },
  megabytes: { isRight: between(1, maxCheckMegabytes), why: `must be 1 to ${maxCheckMegabytes}` },
  text: {
    isRight: (value) => value !== "" && isLine(String(value), maxCheckText),
    why: `must be one line of 1 to ${maxCheckText} characters`,
  },
  port: { isRight: between(1, 65_535), why: "must be 1 to 65535" },
  path: { isRight: isTarget, why: `must begin with /, like /status, with at most ${maxCheckText} characters` },
  status: { isRight: between(200, 599), why: "must be 200 to 599" },
  build: { isRight: between(1, Number.MAX_SAFE_INTEGER), why: "must be the id of a build" },
  percent: { isRight: between(1, 100), why: "must be 1 to 100" },
  mask: {
    isRight: (value) => String(value).length <= maxCheckText && readMask(String(value)) !== undefined,
    why: "must be rectangles such as 0,380,720,20 (left, top, width, height), with blanks between them",
  },
  seconds: { isRight: between(1, maxCheckSeconds), why: `must be 1 to ${maxCheckSeconds}` },
};

const fields = Object.keys(rules) as Field[];

/** Refuses checks that no agent could run, and a publication rule that nothing could satisfy. */
export function validateChecks(check: Check, { checks, settings }: Configuration): void {
  check(checks.length <= maxChecks, "checks", `must not be more than ${maxChecks}`);
  for (const one of checks) for (const field of fields) validateField(check, one, field);
  const needsChecks = "needs a check: add one, or choose always";
  check(settings.publishWhen === "always" || checks.length > 0, "settings/publish_when", needsChecks);
}

function validateField(check: Check, one: OneCheck, field: Field): void {
  const { kind, [field]: value } = one;
  const path = `checks/check/${field}`;
  const isEmpty = value === "" || value === 0;
  if (!isUsedBy(kind, field)) return check(isEmpty, path, `has no meaning for the kind ${kind}`);
  const mayBeEmpty = kindsOfChecks[kind].mayBeEmpty?.includes(field) ?? false;
  check((isEmpty && mayBeEmpty) || rules[field].isRight(value), path, rules[field].why);
}
