import { machineKeptUntil, type Check } from "#lib/contract/index";
import { Refusal } from "#domain/refusal";
import { listCheckRuns } from "#storage/check-runs";
import type { Database } from "#storage/db";
import { findTestdriveByUid } from "#storage/testdrives";

/** A machine that an agent keeps as it was when its checks ended. */
export interface KeptMachine {
  /** They decide which devices the machine has. */
  checks: Check[];
  agentId: number;
}

/** The machine of a run on the image of a build. */
export async function getKeptMachine(db: Database, buildId: number, runId: number): Promise<KeptMachine> {
  const run = (await listCheckRuns(db, buildId)).find(({ id }) => id === runId);
  const keptUntil = run && machineKeptUntil(run);
  const testdrive = run?.testdriveUid ? await findTestdriveByUid(db, run.testdriveUid) : undefined;
  if (!run || !testdrive?.agentId || !keptUntil || keptUntil <= new Date()) throw notKept();
  return { checks: run.checks, agentId: testdrive.agentId };
}

const notKept = () =>
  new Refusal("build_not_found", {
    message: "No builder keeps the machine of these checks. Start a testdrive that boots the image.",
  });
