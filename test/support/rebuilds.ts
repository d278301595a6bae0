import type { BuildClaimRequest } from "#lib/contract/index";
import type { Client } from "./client.ts";
import { createBuild } from "./factories.ts";
import { capabilities, fakeAgent, type Attempt, type FakeAgent } from "./fake-agent.ts";
import type { StoreBytes } from "./file-store.ts";
import { readXml } from "./xml.ts";

/** The report in a claim by an agent that accepts rebuilds. */
export const canRebuild: Partial<BuildClaimRequest> = { capabilities: { ...capabilities, rebuilds: true } };

export async function rebuildsOf(client: Client, buildId: number): Promise<Record<string, unknown>[]> {
  const answer = await client.get(`/builds/${buildId}/rebuilds`, { headers: { accept: "application/json" } });
  return ((await answer.json()) as { rebuilds: Record<string, unknown>[] }).rebuilds;
}

/** Returns the id of the rebuild. */
export async function startRebuild(client: Client, buildId: number): Promise<number> {
  const { rebuild } = await readXml(await client.post(`/builds/${buildId}/rebuilds`));
  return Number(rebuild.id);
}

interface ClaimedRebuild {
  buildId: number;
  applianceId: number;
  attempt: Attempt;
  agent: FakeAgent;
}

/** A build whose rebuild another agent has claimed. */
export async function claimedRebuild(
  client: Client,
  image: Uint8Array<ArrayBuffer>,
  store?: StoreBytes,
): Promise<ClaimedRebuild> {
  const { buildId, applianceId } = await createBuild(client, image, { ...(store && { store }) });
  const agent = await fakeAgent();
  const attempt = await agent.claimsBuild(await startRebuild(client, buildId), canRebuild);
  return { buildId, applianceId, attempt, agent };
}
