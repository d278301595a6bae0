/** A vitest reporter that sends events to scripts/test/vitest.ts, which started this vitest. */
import type { Reporter, TestCase, TestModule } from "vitest/node";
import type { TestEvent } from "./event.ts";

const send = (event: TestEvent): unknown => process.send?.(event);

export default class Telling implements Reporter {
  onTestModuleQueued(module: TestModule): void {
    send({ type: "file began", file: module.relativeModuleId });
  }

  onTestCaseReady({ module, fullName }: TestCase): void {
    send({ type: "test began", file: module.relativeModuleId, test: fullName });
  }

  onTestCaseResult(test: TestCase): void {
    const { state, errors } = test.result();
    if (state === "pending") return;
    const file = test.module.relativeModuleId;
    send({ type: "test ended", file, test: test.fullName, state, reason: firstLine(errors) });
  }

  onTestModuleEnd(module: TestModule): void {
    send({ type: "file ended", file: module.relativeModuleId, reason: reasonOf(module) });
  }
}

/** Why a file failed without a failed test: it could not be loaded, or a hook failed. */
function reasonOf(module: TestModule): string | undefined {
  if (module.ok() || !module.children.allTests("failed").next().done) return undefined;
  const suites = [...module.children.allSuites()].flatMap((suite) => suite.errors());
  return firstLine([...module.errors(), ...suites]);
}

const firstLine = (errors: readonly { message: string }[] = []): string =>
  (errors[0]?.message ?? "").split("\n", 1).join();
