import type { TestEvent } from "./event.ts";

/** The result of a run: the number of passed tests, a line for each failure, and the number of skipped tests. */
export type Tally = { passed: number; failures: readonly string[]; skipped?: number };

export const nothing: Tally = { passed: 0, failures: [] };

export function add(a: Tally, b: Tally): Tally {
  const skipped = (a.skipped ?? 0) + (b.skipped ?? 0);
  const failures = [...a.failures, ...b.failures];
  return { passed: a.passed + b.passed, failures, ...(skipped > 0 && { skipped }) };
}

/** The end of a run: the failures again, because their output may be far above, and one line in a fixed form. */
export function summary({ passed, failures, skipped }: Tally): string {
  const last = `${passed} passed, ${failures.length} failed${skipped === undefined ? "" : `, ${skipped} skipped`}`;
  return [...failures.map((failure) => `failed: ${failure}`), last].join("\n");
}

/** The progress of a run, from its events. */
export class Progress {
  #passed = 0;
  readonly #failures: string[] = [];
  /** The running tests, by file. */
  readonly #running = new Map<string, Set<string>>();
  /** The last ended test, by file. */
  readonly #last = new Map<string, string>();

  note(event: TestEvent): void {
    const { file } = event;
    if (event.type === "file began") this.#running.set(file, new Set());
    else if (event.type === "test began") this.#testsOf(file).add(event.test);
    else if (event.type === "test ended") {
      this.#testsOf(file).delete(event.test);
      this.#last.delete(file); // so that the last entry is the last test overall
      this.#last.set(file, event.test);
      if (event.state === "passed") this.#passed += 1;
      if (event.state === "failed") this.#failures.push(`${file}: ${event.test}: ${event.reason}`);
    } else {
      this.#running.delete(file);
      if (event.reason !== undefined) this.#failures.push(`${file}: ${event.reason}`);
    }
  }

  /**
   * The result of a run that ended on its own. An exit code, such as after an error outside all tests, is a failure.
   */
  ended(exitCode: number): Tally {
    const failures =
      this.#failures.length === 0 && exitCode !== 0
        ? [`a run ended with exit code ${exitCode}, although none of its tests failed`]
        : this.#failures;
    return { passed: this.#passed, failures };
  }

  /** The result of a run that hung. Every test that had not ended counts as failed. */
  hung(seconds: number): Tally {
    const why = `hung: nothing began or ended in ${seconds} seconds`;
    const left = [...this.#running].flatMap(([file, tests]) =>
      tests.size === 0 ? [`${file}, ${this.#after(file)}`] : [...tests].map((test) => `${file}: ${test}`),
    );
    const places = left.length > 0 ? left : [`the run, ${this.#after()}`];
    return { passed: this.#passed, failures: [...this.#failures, ...places.map((place) => `${place}: ${why}`)] };
  }

  #after(file = [...this.#last.keys()].at(-1)): string {
    const test = file === undefined ? undefined : this.#last.get(file);
    return test === undefined ? "before its first test ended" : `after the test ${test}`;
  }

  #testsOf(file: string): Set<string> {
    const tests = this.#running.get(file) ?? new Set();
    this.#running.set(file, tests);
    return tests;
  }
}
