/** Verifies a base system from its mirrors to its booted images, and writes a report. */
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Complaint } from "./launch/complaint.ts";
import { print } from "./launch/progress.ts";
import { projectRoot } from "./launch/project.ts";
import { machineFacts } from "./verify/machine-facts.ts";
import { parseVerifyOptions, verifyUsage, type VerifyOptions } from "./verify/options.ts";
import { StepRecord } from "./verify/step-record.ts";
import { addRuns, notBootedYet } from "./verify/matrix/matrix.ts";
import { addToReport, untilToldToEnd } from "./verify/report-file.ts";
import { catalogueOf, verify } from "./verify/verify.ts";

const signal = untilToldToEnd();

try {
  const options = parseVerifyOptions(process.argv.slice(2));
  if (options === "help") print(verifyUsage);
  else await verifyAndReport(options);
} catch (error) {
  if (error instanceof Complaint) console.error(`kiln: ${error.message}`);
  else if (!signal.aborted) console.error("kiln: internal error of the verification:", error);
  process.exitCode = 1;
}

async function verifyAndReport(options: VerifyOptions): Promise<void> {
  const { base } = options;
  const startedAt = new Date();
  const catalogue = catalogueOf(base);
  const machine = await machineFacts();
  const record = new StepRecord(signal);
  // Not in /tmp, which may be in memory.
  const state = options.state ?? mkdtempSync("/var/tmp/kiln-verify-");
  try {
    const isWanted = options.onlyNew ? notBootedYet(catalogue) : () => true;
    await verify(catalogue, { ...options, state }, { record, signal, isWanted });
  } catch (error) {
    // The record already contains an interrupted step.
    if (!signal.aborted)
      record.fail(catalogue.baseSystem.title, error instanceof Error ? error.message : String(error));
    throw error;
  } finally {
    const path = options.report ?? join(projectRoot, "docs/verified", `${base}.md`);
    const { title } = catalogue.baseSystem;
    // If the command was interrupted, the last image was not tried to its end. What was known of it stays.
    const { steps: all } = record;
    const steps = signal.aborted ? all.filter(({ of }) => of !== all.at(-1)?.of) : all;
    addToReport(path, { title, command: `verify:base -- ${base}`, startedAt, machine, steps });
    print(`The report is in ${path}`);
    if (options.report === undefined) addRuns(catalogue, { startedAt, machine, steps });
    if (signal.aborted) process.exitCode = 1;
    if (options.state === undefined) rmSync(state, { recursive: true, force: true });
  }
}
