/** A process that keeps vitest warm, in a copy of the project. Each message from its parent starts a run. */
import { join } from "node:path";
import { createVitest, type TestModule } from "vitest/node";

export interface Order {
  /** Paths relative to the project. */
  tests: readonly string[];
  /** The files that have changed since the last run. */
  changed: readonly string[];
}

export interface Outcome {
  /** The test files, each with its first failed test. */
  files: { test: string; failed: string | undefined }[];
  /** Errors outside tests, such as an unhandled rejection. */
  errors: string[];
}

const root = process.cwd();
/** The ended modules of this run, because vitest also keeps the results of earlier ones. */
let ended: TestModule[] = [];
const vitest = await createVitest("test", {
  config: join(root, "test/vitest.config.ts"),
  watch: false,
  bail: 1, // one failed test is enough to catch a fault
  project: ["worker*", "node"],
  reporters: [{ onTestModuleEnd: (module) => void ended.push(module) }],
});
await vitest.standalone();

process.on("message", (order: Order) => {
  void run(order).then((outcome) => process.send?.(outcome));
});
process.send?.("ready");

async function run({ tests, changed }: Order): Promise<Outcome> {
  for (const file of changed) vitest.invalidateFile(join(root, file));
  const specifications = await vitest.globTestSpecifications(tests.map((test) => join(root, test)));
  ended = [];
  const { unhandledErrors } = await vitest.runTestSpecifications(specifications);
  const files = ended.map((module) => {
    const [failed] = [...module.children.allTests("failed")].map(({ fullName }) => fullName);
    const broken = module.ok() ? undefined : `${module.errors()[0]?.message ?? "the file failed"}`;
    return { test: module.relativeModuleId, failed: failed ?? broken };
  });
  return { files, errors: unhandledErrors.map(String) };
}
