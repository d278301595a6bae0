import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Mutant } from "./mutants.ts";
import type { Runner } from "./runner.ts";
import type { Outcome } from "./vitest.ts";

/** The result for one fault. With "unclear", its tests also fail or take too long without the fault. */
export type End = "caught" | "hung" | "survived" | "untested" | "unclear";

/** This is much longer than all tests of the command line take on a busy machine. */
const usualSeconds = 300;

/** Runs tests with faults in a copy of the project. */
export class Trial {
  readonly #folder: string;
  readonly #runner: Runner;
  /** Test files that have passed without a fault. */
  readonly #sound = new Set<string>();
  /** Files written since the last run, including those of an earlier fault. vitest still has their old text. */
  readonly #changed = new Set<string>();

  constructor(folder: string, runner: Runner) {
    this.#folder = folder;
    this.#runner = runner;
  }

  /** Tries one fault. `by` is the test that failed, or the types, if only they reveal the fault. */
  async of(mutant: Mutant, tests: readonly string[], limitSeconds = usualSeconds): Promise<{ end: End; by?: string }> {
    if (tests.length === 0) return { end: "untested" };
    const outcome = await this.#with(mutant, () => this.#run(tests, limitSeconds));
    const failed = outcome?.files.find((one) => one.failed !== undefined);
    const by = failed?.failed ?? outcome?.errors[0];
    if (outcome && by === undefined) return await this.#typed(mutant);
    const isSound = await this.#areSound(failed ? [failed.test] : tests);
    if (!isSound) return { end: "unclear", by: by ?? "too slow" };
    return by === undefined ? { end: "hung" } : { end: "caught", by };
  }

  /** The type check takes seconds, so only faults that no test finds are checked. */
  async #typed(mutant: Mutant): Promise<{ end: End; by?: string }> {
    const isRight = await this.#with(mutant, () => hasRightTypes(this.#folder, mutant.file));
    return isRight ? { end: "survived" } : { end: "caught", by: "types" };
  }

  async #with<T>({ file, line, after }: Mutant, work: () => T | Promise<T>): Promise<T> {
    const content = readFileSync(join(this.#folder, file), "utf8");
    const lines = content.split("\n").with(line - 1, after);
    this.#write(file, lines.join("\n"));
    try {
      return await work();
    } finally {
      this.#write(file, content);
    }
  }

  #write(file: string, content: string): void {
    writeFileSync(join(this.#folder, file), content);
    this.#changed.add(file);
  }

  #run(tests: readonly string[], limitSeconds: number): Promise<Outcome | undefined> {
    const changed = [...this.#changed];
    this.#changed.clear();
    return this.#runner.run({ tests, changed }, limitSeconds);
  }

  async #areSound(tests: readonly string[]): Promise<boolean> {
    if (tests.every((test) => this.#sound.has(test))) return true;
    const outcome = await this.#run(tests, usualSeconds);
    const isSound = outcome?.errors.length === 0 && outcome.files.every(({ failed }) => failed === undefined);
    if (isSound) for (const test of tests) this.#sound.add(test);
    return isSound;
  }
}

/** The folders with a tsconfig.json, except `test`, whose checks `src` and `scripts` too. */
const typed = ["src/web/client", "builder-agent", "cli"];

/** Whether a file in a copy of the project, and everything compiled with it, type-checks and waits for its promises. */
function hasRightTypes(folder: string, file: string): boolean {
  const passes = (program: string, ...args: string[]) =>
    spawnSync(`node_modules/.bin/${program}`, args, { cwd: folder, stdio: "ignore" }).status === 0;
  const project = typed.find((one) => file.startsWith(`${one}/`)) ?? "test";
  return passes("tsc", "-p", project) && passes("oxlint", "--type-aware", "-c", ".oxlintrc.types.json", file);
}
