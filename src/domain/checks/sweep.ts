import { callAgents, endAttempt } from "#domain/checks/attempt";
import type { Services } from "#domain/services";
import { wakeWhenSilent } from "#domain/liveness";
import { failWaitingRun, takeSilentCheckRuns, type CheckRun } from "#storage/check-runs";
import { findTestdriveByUid } from "#storage/testdrives";

const wokenAtOnce = 100;
const longestWaitMs = 24 * 60 * 60_000;

/** For the sweep: wakes agents for waiting runs, and continues what a crash interrupted. */
export async function wakeChecks(services: Services, now: number): Promise<void> {
  const silence = { now: new Date(now), wakeAt: wakeWhenSilent(now), limit: wokenAtOnce };
  const silent = await takeSilentCheckRuns(services.db, silence);
  for (const run of silent) if (run.state === "running") await endLostAttempt(services, run);
  const waiting = silent.filter(({ state }) => state === "waiting");
  const [old, waits] = [waiting.filter((run) => isOld(run, now)), waiting.find((run) => !isOld(run, now))];
  for (const run of old) await failWaitingRun(services.db, run, "No builder agent could run it within 24 hours.");
  if (waits) await callAgents(services.env, waits);
}

const isOld = ({ createdAt }: CheckRun, now: number): boolean => now - createdAt.getTime() >= longestWaitMs;

/** Ends an attempt whose session never started. In all other cases, the session's object ends the attempt itself. */
async function endLostAttempt(services: Services, { testdriveUid }: CheckRun): Promise<void> {
  if (testdriveUid === null) return;
  const testdrive = await findTestdriveByUid(services.db, testdriveUid);
  if (testdrive && testdrive.state !== "ended") return;
  await endAttempt(services, testdriveUid, "The builder agent has not reported anything.");
}
