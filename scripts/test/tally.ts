import { z } from "zod";

/** What vitest's JSON reporter writes, as far as it is counted. */
export const Report = z.object({
  numPassedTests: z.int(),
  numFailedTests: z.int(),
  testResults: z.array(z.object({ status: z.string(), assertionResults: z.array(z.object({ status: z.string() })) })),
});
export type Report = z.infer<typeof Report>;

export type Tally = { passed: number; failed: number };

export const nothing: Tally = { passed: 0, failed: 0 };

export const add = (a: Tally, b: Tally): Tally => ({ passed: a.passed + b.passed, failed: a.failed + b.failed });

/** The last line of a run, the same from everywhere. */
export const sentence = ({ passed, failed }: Tally): string => `${passed} passed, ${failed} failed`;

/**
 * Counts one run. A file that could not even be loaded is a failure without a failed test, and so is a run that ended
 * badly for any other reason, e.g. an error that nobody caught: neither may look like success.
 */
export function count(report: Report | undefined, exitCode: number): Tally {
  const brokenFiles = report?.testResults.filter(
    (file) => file.status === "failed" && !file.assertionResults.some((test) => test.status === "failed"),
  );
  const failed = (report?.numFailedTests ?? 0) + (brokenFiles?.length ?? 0);
  return { passed: report?.numPassedTests ?? 0, failed: failed === 0 && exitCode !== 0 ? 1 : failed };
}
