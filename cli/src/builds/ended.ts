import type { AnswerOf, Client } from "../client/client.ts";

export type EndedBuild = AnswerOf<"listBuilds">["builds"][number];

/** How many builds one call lists. */
const perCall = 1000;

/** The builds of an appliance that have ended, newest first. Requests older ones only when they are read. */
export async function* endedBuilds(client: Client, applianceId: number): AsyncGenerator<EndedBuild> {
  for (let before: number | undefined; ;) {
    const { builds } = await client.call("listBuilds", { appliance_id: applianceId, before });
    const last = builds.at(-1)?.id;
    yield* builds;
    if (last === undefined || builds.length < perCall) return;
    before = last;
  }
}

export async function allEndedBuilds(client: Client, applianceId: number): Promise<EndedBuild[]> {
  const all = [];
  for await (const one of endedBuilds(client, applianceId)) all.push(one);
  return all;
}
