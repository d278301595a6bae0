import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { machineFacts } from "./machine-facts.ts";
import { failuresIn, reportOf, type Verified } from "./report.ts";
import { StepRecord } from "./step-record.ts";

/** Adds a run to a report. The process ends with 1 if a step failed. Returns whether one did. */
export function addToReport(path: string, verified: Verified): boolean {
  mkdirSync(dirname(path), { recursive: true });
  const earlier = existsSync(path) ? readFileSync(path, "utf8") : "";
  writeFileSync(path, reportOf(verified, earlier));
  const hasFailed = failuresIn(verified.steps).length > 0;
  if (hasFailed) process.exitCode = 1;
  return hasFailed;
}

/** One verification of an image: where it records its steps, and an empty folder to work in. */
export interface Verification {
  record: StepRecord;
  folder: string;
  signal: AbortSignal;
}

interface Verifying extends Pick<Verified, "title" | "command"> {
  report: string;
  /** Removes the files in the folder that are no longer needed. Default: all of them. */
  leave?: (folder: string, hasFailed: boolean) => void;
}

const remove = (folder: string): void => rmSync(folder, { recursive: true, force: true });

/** Verifies an image, and adds the tried steps to its report, however the work ends. */
export async function verifyImage(
  { title, command, report, leave = remove }: Verifying,
  work: (verification: Verification) => Promise<void>,
): Promise<void> {
  const signal = untilToldToEnd();
  const startedAt = new Date();
  const machine = await machineFacts();
  const record = new StepRecord(signal);
  // Not in /tmp, which may be in memory.
  const folder = mkdtempSync(`/var/tmp/kiln-${command.replace(":", "-")}-`);
  try {
    await work({ record, folder, signal });
  } catch (error) {
    // The record already contains an interrupted step.
    if (!signal.aborted) throw error;
    process.exitCode = 1;
  } finally {
    leave(folder, addToReport(report, { title, command, startedAt, machine, steps: record.steps }));
  }
}

/**
 * Ends the verification when the process gets a signal, so that the report has the steps that were tried until then.
 */
export function untilToldToEnd(): AbortSignal {
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopping.abort());
  return stopping.signal;
}
