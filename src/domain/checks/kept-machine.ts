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

/** The machine of a run. An agent keeps one per image, so only the newest run of a build can have one. */
export async function getKeptMachine(db: Database, buildId: number, runId: number): Promise<KeptMachine> {
  const [newest] = await listCheckRuns(db, buildId);
  const keptUntil = newest?.id === runId ? machineKeptUntil(newest) : null;
  if (!newest?.testdriveUid || !keptUntil || keptUntil <= new Date()) throw notKept();
  const { agentId } = (await findTestdriveByUid(db, newest.testdriveUid)) ?? { agentId: null };
  if (agentId === null) throw notKept();
  return { checks: newest.checks, agentId };
}

const notKept = () =>
  new Refusal("build_not_found", {
    message: "No builder keeps the machine of these checks. Start a testdrive that boots the image.",
  });
