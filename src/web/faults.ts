import type { z } from "zod";
import { Refusal, refusalCodes, type RefusalCode } from "#domain/refusal";
import type { Given } from "./given.ts";

export type GivenFields = Readonly<Record<string, string | undefined>>;
type Faults = Readonly<Record<string, string>>;

/** Decides where a page shows the faults of a refused form. */
export interface FaultRules {
  /** The field for each refusal code of the domain. Other refusals are about the whole form. */
  fieldOf?: Partial<Record<RefusalCode, string>>;
  /** The message for each field, from a refusal that names the fields itself. If it is empty, `fieldOf` decides. */
  faultsOf?: (refusal: Refusal) => Faults;
  /**
   * Checks that the action makes one after the other. If the form is refused, each of them is tried, so that the person
   * sees all faults together. A check throws a Refusal. `given` has the first value of each field that is not empty.
   */
  checks?: (given: GivenFields, all: (name: string) => readonly string[]) => readonly (() => unknown)[];
}

/** The message for each field. Empty if the refusal is about the whole form. */
export function faultsOfRefusal({ fieldOf, faultsOf }: FaultRules, refusal: Refusal): Faults {
  const named = faultsOf?.(refusal) ?? {};
  const field = fieldOf?.[refusal.code];
  return Object.keys(named).length > 0 || field === undefined ? named : { [field]: refusal.message };
}

/** The faults that the checks of a refused form find. */
export async function faultsOfChecks(rules: FaultRules, { values }: Given): Promise<Faults> {
  const given = Object.fromEntries(Object.entries(values).map(([name, [first]]) => [name, first]));
  const found: Record<string, string> = {};
  for (const check of rules.checks?.(given, (name) => values[name] ?? []) ?? []) {
    try {
      await check();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      Object.assign(found, faultsOfRefusal(rules, error));
    }
  }
  return found;
}

/** Returns one message for each wrong field. */
export const faultsOfShape = ({ issues }: z.ZodError): Faults =>
  Object.fromEntries(issues.map(({ path, message }) => [String(path[0] ?? ""), sentence(message)]).toReversed());

/** The message of a field as a sentence. In the API's own schemas, the messages are codes. */
function sentence(message: string): string {
  const code = refusalCodes.find((known) => known === message);
  return code === undefined ? message : new Refusal(code).message;
}
