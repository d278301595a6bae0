import { logFailure } from "#log/log";

/**
 * Writes a data point to Analytics Engine, if the operator has bound it. Labels are constants from the code, never text
 * from a client. A failure is only logged: the binding throws if an invocation has written too many points.
 */
export function writePoint(
  { METRICS }: Pick<Env, "METRICS">,
  metric: "refusals" | "builds_ended",
  labels: readonly [string, string],
): void {
  try {
    METRICS?.writeDataPoint({ indexes: [metric], blobs: [...labels], doubles: [1] });
  } catch (error) {
    logFailure("could not write a data point", error, { metric });
  }
}
