import { sendJob, wakeAgent } from "#domain/jobs";
import type { Services } from "#domain/services";
import { logFailure } from "#log/log";
import { endCheckAttempt, type CheckRun } from "#storage/check-runs";

/**
 * The maximum number of attempts. An agent may die, or its host may be at fault. This says nothing about the image, so
 * it is tried again.
 */
const maxAttempts = 3;

/** Ends an attempt. If it has not reported, the run waits for another agent, or ends as `error`. Safe to repeat. */
export async function endAttempt(services: Services, testdriveUid: string, reason: string): Promise<void> {
  const run = await endCheckAttempt(services.db, testdriveUid, { message: reason, maxAttempts });
  if (run?.state === "waiting") await callAgents(services.env, run);
}

/**
 * Wakes an agent. If it does not claim the run, another agent finds the run through the message, or at its next claim.
 */
export async function callAgents(env: Env, { id }: Pick<CheckRun, "id">): Promise<void> {
  // The message is only a hint. An agent claims the oldest waiting work, whatever id the message names.
  await sendJob(env, { kind: "testdrive", testdriveId: id }).catch((error: unknown) =>
    logFailure("could not call the agents for a run of checks", error, { checkRunId: id }),
  );
  await wakeAgent(env, { kind: "testdrive" });
}
