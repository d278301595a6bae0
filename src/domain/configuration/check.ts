import { Refusal, type Fault } from "#domain/refusal";

/**
 * `path` is the path in the document (compatibility.md, "Configuration"), such as `settings/memory_size`. `why` has no
 * full stop.
 */
export type Check = (isRight: boolean, path: string, why: string) => void;

export const check: Check = (isRight, path, why) => {
  if (!isRight) throw wrongValues([{ path, why }]);
};

/** All faults, at most one for each path. */
export function faultsIn(look: (check: Check) => void): Fault[] {
  const found = new Map<string, string>();
  look((isRight, path, why) => {
    if (!isRight && !found.has(path)) found.set(path, why);
  });
  return [...found].map(([path, why]) => ({ path, why }));
}

/** The refusal for invalid values. Its message names the first fault. */
export const wrongValues = (faults: readonly Fault[]): Refusal =>
  new Refusal("invalid_value", { message: `${faults[0]?.path}: ${faults[0]?.why}.`, faults });
