import type { Client } from "./client.ts";
import { createAppliance, startBuild } from "./factories.ts";
import { fakeAgent } from "./fake-agent.ts";

/** A build that its own agent has claimed. */
export async function runningBuild(tux: Client) {
  const buildId = await startBuild(tux, await createAppliance(tux));
  const agent = await fakeAgent();
  return { buildId, agent, attempt: await agent.claimsBuild(buildId) };
}

/** The status and code of a refusal by the agent API. */
export async function codeOf(answer: Response): Promise<[number, string]> {
  const { error } = await answer.json<{ error: { code: string } }>();
  return [answer.status, error.code];
}
