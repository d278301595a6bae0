import { sendJob, wakeAgent } from "#domain/jobs";
import type { Services } from "#domain/services";
import { logFailure } from "#log/log";
import { endCheckAttempt, type CheckRun } from "#storage/check-runs";

/** An agent may die, or its host may be at fault. The image is not to blame, so another attempt follows. */
const maxAttempts = 3;

/** An attempt has ended. Without a report, the run waits for another agent, or ends as `error`. Safe to repeat. */
export async function endAttempt(services: Services, testdriveUid: string, reason: string): Promise<void> {
  const run = await endCheckAttempt(services.db, testdriveUid, { message: reason, maxAttempts });
  if (run?.state === "waiting") await callAgents(services.env, run);
}

/** Wakes an agent. If it does not claim the run, another one finds it by the message, or at its next claim. */
export async function callAgents(env: Env, { id }: Pick<CheckRun, "id">): Promise<void> {
  // The message is only a hint: an agent claims the oldest waiting work, whatever the id.
  await sendJob(env, { kind: "testdrive", testdriveId: id }).catch((error: unknown) =>
    logFailure("could not call the agents for a run of checks", error, { checkRunId: id }),
  );
  await wakeAgent(env, { kind: "testdrive" });
}
