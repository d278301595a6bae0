import type { Job } from "#lib/contract/index";
import type { WaitingWork } from "#domain/agent-pool";
import { logFailure } from "#log/log";

/** Sends a wake-up to the queue. Agents poll the queue, so one of them finds the work even if no socket is open. */
export async function sendJob(env: Pick<Env, "JOBS">, job: Job): Promise<void> {
  // Agents pull JSON as base64. Only this content type is encoded like that on both sides (Cloudflare Queues, "Pull
  // consumers").
  await env.JOBS.send(job, { contentType: "json" });
}

/**
 * Wakes one free agent that can do the work through its socket, which is faster than the queue. Returns whether there
 * is such an agent.
 */
export async function wakeAgent(env: Pick<Env, "SWITCHBOARD">, work: WaitingWork): Promise<boolean> {
  try {
    return await switchboard(env).wake(work);
  } catch (error) {
    logFailure("could not wake an agent", error, { kind: work.kind });
    return false;
  }
}

/** How long a woken agent has to claim the work before the next one is woken. */
export const nextAgentAfterMs = 2_000;

/** Asks an agent to stop its build now, not at its next heartbeat. */
export async function callOff(env: Pick<Env, "SWITCHBOARD">, agentId: number, buildId: number): Promise<void> {
  await Promise.resolve(switchboard(env).cancel(agentId, buildId)).catch((error: unknown) =>
    logFailure("could not notify an agent that its build is cancelled", error, { buildId }),
  );
}

/** The one object that holds the agents' sockets. */
export const switchboard = (env: Pick<Env, "SWITCHBOARD">) => env.SWITCHBOARD.getByName("agents");

/** The one object behind the embedded queue. */
export const mailbox = (env: Pick<Env, "MAILBOX">) => env.MAILBOX.getByName("jobs");
