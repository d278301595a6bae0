import { objectOfBuild } from "./builds.ts";
import { signedIn } from "./client.ts";
import { createAppliance, startBuild } from "./factories.ts";
import { fakeAgent } from "./fake-agent.ts";

/** A waiting build, and its object. */
export async function queuedBuild() {
  const tux = await signedIn();
  const applianceId = await createAppliance(tux);
  const buildId = await startBuild(tux, applianceId);
  return { tux, applianceId, buildId, object: await objectOfBuild(buildId) };
}

/** A build that an agent has claimed. */
export async function runningBuild() {
  const build = await queuedBuild();
  const agent = await fakeAgent();
  return { ...build, agent, attempt: await agent.claimsBuild(build.buildId) };
}
