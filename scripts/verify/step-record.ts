import { Complaint } from "../launch/complaint.ts";
import { print, step as shownStep } from "../launch/progress.ts";
import type { Step } from "./report.ts";

/** The steps of a verification, as they happen. */
export class StepRecord {
  readonly steps: Step[] = [];
  readonly #signal: AbortSignal;

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  /** Runs one step. Returns undefined if it failed, and records the reason. `seen` makes the text for the report. */
  async step<T>(
    { of, what, seen }: { of: string; what: string; seen: (result: T) => string },
    work: () => Promise<T>,
  ): Promise<T | undefined> {
    const startedAt = Date.now();
    const add = (outcome: Step["outcome"], detail: string) =>
      this.steps.push({ of, what, outcome, ms: Date.now() - startedAt, detail });
    try {
      const result = await shownStep(`${of}: ${what}`, work);
      add("passed", seen(result));
      return result;
    } catch (error) {
      if (this.#signal.aborted) {
        add("failed", "It was interrupted.");
        throw error;
      }
      const why = error instanceof Error ? error.message : String(error);
      if (!(error instanceof Complaint)) console.error(error);
      else print(`    ${why}`);
      add("failed", why);
      return undefined;
    }
  }

  /** Records an error outside all steps, which ended the verification. */
  fail(of: string, why: string): void {
    this.steps.push({ of, what: "verify", outcome: "failed", ms: 0, detail: why });
  }

  /** Records something that the base system does not support. */
  cannot({ of, what }: Pick<Step, "of" | "what">, why: string): void {
    this.steps.push({ of, what, outcome: "not possible", ms: 0, detail: why });
  }
}
