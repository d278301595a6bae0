import { expect } from "vitest";
import { Refusal } from "#domain/refusal";

/** Expects the domain to refuse with this code. */
export function expectRefusal(work: () => unknown, code: string): void {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(Refusal);
    expect(error).toMatchObject({ code });
    return;
  }
  expect.fail(`nothing was refused with ${code}`);
}
