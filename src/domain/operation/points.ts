import { logFailure } from "#log/log";

/**
 * Writes a data point for Analytics Engine, if the operator has bound it. The labels are words of the code: never what a client
 * sent. A point that is not written fails nothing: the binding throws when an invocation has written too many.
 */
export function writePoint(
  { METRICS }: Pick<Env, "METRICS">,
  metric: "refusals" | "builds_ended",
  labels: readonly [string, string],
): void {
  try {
    METRICS?.writeDataPoint({ indexes: [metric], blobs: [...labels], doubles: [1] });
  } catch (error) {
    logFailure("a data point was not written", error, { metric });
  }
}
