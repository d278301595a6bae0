import { z } from "zod";

/** What vitest's JSON reporter writes, as far as it is counted. */
export const Report = z.object({
  numPassedTests: z.int(),
  testResults: z.array(
    z.object({
      name: z.string(),
      status: z.string(),
      message: z.string(),
      assertionResults: z.array(
        z.object({ fullName: z.string(), status: z.string(), failureMessages: z.array(z.string()).nullish() }),
      ),
    }),
  ),
});
export type Report = z.infer<typeof Report>;

/** What ran: how many tests passed, and a line for each failure. */
export type Tally = { passed: number; failures: readonly string[] };

export const nothing: Tally = { passed: 0, failures: [] };

export const add = (a: Tally, b: Tally): Tally => ({
  passed: a.passed + b.passed,
  failures: [...a.failures, ...b.failures],
});

/** The end of a run: what failed, as its own words may stand an hour above, then the plain line, the same from everywhere. */
export const summary = ({ passed, failures }: Tally): string =>
  [...failures.map((failure) => `failed: ${failure}`), `${passed} passed, ${failures.length} failed`].join("\n");

/**
 * Counts one run. A file that could not even be loaded is a failure without a failed test, and so is a run that ended
 * badly for any other reason, e.g. an error that nobody caught: neither may look like success.
 */
export function count(report: Report | undefined, exitCode: number): Tally {
  const failures = (report?.testResults ?? []).flatMap(failuresOf);
  if (failures.length === 0 && exitCode !== 0)
    failures.push(`a run ended with exit code ${exitCode}, though none of its tests failed`);
  return { passed: report?.numPassedTests ?? 0, failures };
}

function failuresOf({ name, status, message, assertionResults }: Report["testResults"][number]): string[] {
  const failed = assertionResults.filter((test) => test.status === "failed");
  if (failed.length === 0) return status === "failed" ? [`${name}: ${firstLine(message)}`] : [];
  return failed.map((test) => `${name}: ${test.fullName}: ${firstLine(test.failureMessages?.[0])}`);
}

const firstLine = (text = ""): string => text.trim().split("\n", 1).join();
