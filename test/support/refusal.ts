import { expect } from "vitest";
import { Refusal } from "#domain/refusal";

/** That the domain says no with this code. */
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
