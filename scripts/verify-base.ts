/** Verifies a base system from its mirrors to its booted images, and writes a report. */
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Complaint } from "./launch/complaint.ts";
import { print } from "./launch/progress.ts";
import { projectRoot } from "./launch/project.ts";
import { machineFacts } from "./verify/machine-facts.ts";
import { parseVerifyOptions, verifyUsage, type VerifyOptions } from "./verify/options.ts";
import { StepRecord } from "./verify/step-record.ts";
import { addRuns, notBootedYet } from "./verify/matrix/matrix.ts";
import { failuresIn, reportOf } from "./verify/report.ts";
import { catalogueOf, verify } from "./verify/verify.ts";

const stopping = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stopping.abort());

try {
  const options = parseVerifyOptions(process.argv.slice(2));
  if (options === "help") print(verifyUsage);
  else await verifyAndReport(options);
} catch (error) {
  if (error instanceof Complaint) console.error(`kiln: ${error.message}`);
  else if (!stopping.signal.aborted) console.error("kiln: internal error of the verification:", error);
  process.exitCode = 1;
}

async function verifyAndReport(options: VerifyOptions): Promise<void> {
  const { base } = options;
  const startedAt = new Date();
  const catalogue = catalogueOf(base);
  const machine = await machineFacts();
  const record = new StepRecord(stopping.signal);
  // Not in /tmp, which may be in memory.
  const state = options.state ?? mkdtempSync("/var/tmp/kiln-verify-");
  try {
    const isWanted = options.onlyNew ? notBootedYet(catalogue) : () => true;
    await verify(catalogue, { ...options, state }, { record, signal: stopping.signal, isWanted });
  } catch (error) {
    // The record already contains an interrupted step.
    if (!stopping.signal.aborted)
      record.fail(catalogue.baseSystem.title, error instanceof Error ? error.message : String(error));
    throw error;
  } finally {
    const path = options.report ?? join(projectRoot, "docs/verified", `${base}.md`);
    const { title } = catalogue.baseSystem;
    mkdirSync(dirname(path), { recursive: true });
    const earlier = existsSync(path) ? readFileSync(path, "utf8") : "";
    writeFileSync(
      path,
      reportOf({ title, command: `verify:base -- ${base}`, startedAt, machine, steps: record.steps }, earlier),
    );
    print(`The report is in ${path}`);
    if (!stopping.signal.aborted && options.report === undefined)
      addRuns(catalogue, { startedAt, machine, steps: record.steps });
    if (failuresIn(record.steps).length > 0) process.exitCode = 1;
    if (options.state === undefined) rmSync(state, { recursive: true, force: true });
  }
}
