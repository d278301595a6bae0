import { Refusal } from "#domain/refusal";

/** Refuses a value by its path in the document (wire.md §2.4), `settings/memory_size: …`. `why` has no full stop. */
export function check(isRight: boolean, path: string, why: string): void {
  if (!isRight) throw new Refusal("invalid_value", { message: `${path}: ${why}.` });
}
