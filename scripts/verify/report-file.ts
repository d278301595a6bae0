import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { failuresIn, reportOf, type Verified } from "./report.ts";

/** Adds a run to a report. The process ends with 1 if a step failed. → whether one did */
export function addToReport(path: string, verified: Verified): boolean {
  mkdirSync(dirname(path), { recursive: true });
  const earlier = existsSync(path) ? readFileSync(path, "utf8") : "";
  writeFileSync(path, reportOf(verified, earlier));
  const hasFailed = failuresIn(verified.steps).length > 0;
  if (hasFailed) process.exitCode = 1;
  return hasFailed;
}

/** Ends the verification when the process is told to end, so that the report has what was tried until then. */
export function untilToldToEnd(): AbortSignal {
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopping.abort());
  return stopping.signal;
}
