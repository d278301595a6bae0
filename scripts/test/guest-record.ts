import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { availableParallelism, release } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { installedPackages } from "../../builder-agent/src/guest/host-packages.ts";
import type { TestEvent } from "./event.ts";
import { guestDigest, hostFacts, knownFiles } from "./guest-digest.ts";
import { guestTests } from "./guests.ts";

/** The file with the digests of guest tests that have passed. It is committed, and only a passed run changes it. */
export const recordFile = "test/acceptance/guest-record.json";

const Passed = z.object({
  test: z.string(),
  /** The digest of guest-digest.ts. */
  digest: z.string(),
  /** The day in UTC. */
  passedOn: z.iso.date(),
  /** The number of tests in the file. */
  tests: z.int().positive(),
  /** The machine: its distribution, kernel, and versions of the main tools. */
  machine: z.record(z.string(), z.string()),
});
type Passed = z.infer<typeof Passed>;

/** The number of digests to keep for each test, because machines with other packages have other digests. */
const keptPerTest = 4;

/**
 * The current digests of the guest tests. Undefined if this host is not Debian, or git cannot list the files. Then all
 * tests are new.
 */
export function digestsNow(root: string, sampleDistribution: string | undefined): Map<string, string> | undefined {
  try {
    const inputs = { root, known: knownFiles(root), facts: hostFacts(sampleDistribution ?? "") };
    const tests = globSync(guestTests, { cwd: root }).toSorted();
    return new Map(tests.map((test) => [test, guestDigest(test, inputs)]));
  } catch (error) {
    console.log(
      `There are no digests of the guest tests, so all of them run: ${error instanceof Error ? error.message : error}`,
    );
    return undefined;
  }
}

/** The tests that have passed with their current digest. */
export const passedBefore = (root: string, digests: ReadonlyMap<string, string>): Passed[] =>
  readRecord(root).filter(({ test, digest }) => digests.get(test) === digest);

/** Adds what passed, replacing an older pass of the same digest. */
export function recordPasses(root: string, passes: readonly Omit<Passed, "passedOn" | "machine">[]): void {
  if (passes.length === 0) return;
  const passedOn = new Date().toISOString().slice(0, 10);
  const machine = describeMachine();
  const digests = new Set(passes.map(({ digest }) => digest));
  const older = readRecord(root).filter(({ digest }) => !digests.has(digest));
  const all = [...passes.map((each) => ({ ...each, passedOn, machine })), ...older];
  const kept = all.filter(
    ({ test }, at) => all.slice(0, at).filter((newer) => newer.test === test).length < keptPerTest,
  );
  writeFileSync(join(root, recordFile), `${JSON.stringify(kept, null, 2)}\n`);
}

function readRecord(root: string): Passed[] {
  const file = join(root, recordFile);
  return existsSync(file) ? z.array(Passed).parse(JSON.parse(readFileSync(file, "utf8"))) : [];
}

function describeMachine(): Record<string, string> {
  const installed = installedPackages();
  const system = /^PRETTY_NAME="?([^"\n]*)/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1] ?? "unknown";
  const tools = ["qemu-system-x86", "seabios", "kiwi", "rpm", "zypper", "debootstrap"];
  return {
    system,
    kernel: release(),
    processors: String(availableParallelism()),
    ...Object.fromEntries(tools.map((name) => [name, installed.get(name)?.version ?? "missing"])),
  };
}

/** The files of a run that passed as a whole: at least one test, none failed or skipped, and no hook failed. */
export class WholePasses {
  readonly #files = new Map<string, { tests: number; isWhole: boolean; hasEnded: boolean }>();

  note(event: TestEvent): void {
    const file = this.#files.get(event.file) ?? { tests: 0, isWhole: true, hasEnded: false };
    this.#files.set(event.file, file);
    if (event.type === "test ended") {
      if (event.state === "passed") file.tests += 1;
      else file.isWhole = false;
    } else if (event.type === "file ended") {
      file.hasEnded = true;
      if (event.reason !== undefined) file.isWhole = false;
    }
  }

  /** The number of tests, by file. */
  get(): Map<string, number> {
    const whole = [...this.#files].filter(([, each]) => each.isWhole && each.hasEnded && each.tests > 0);
    return new Map(whole.map(([file, { tests }]) => [file, tests]));
  }
}
