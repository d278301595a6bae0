import { evictDurableObject } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { expect, it } from "vitest";
import { redialHeader } from "#lib/contract/index";
import { wantedOf, type WaitingWork } from "#domain/agent-pool";
import { connect, counts, sum, type Connected } from "../support/pool.ts";

const work: WaitingWork = {
  kind: "build",
  wanted: wantedOf({
    imageType: "oem",
    arch: "x86_64",
    packageType: "rpm",
    builderRoot: null,
    needsLvm: false,
    needsEfi: false,
    fileSystem: "ext4",
  }),
};

it("wakes one of 1000 agents for each of 20 builds, also after the object was evicted", async () => {
  const pool = env.SWITCHBOARD.getByName(`pool of ${crypto.randomUUID()}`);
  const agents: Connected[] = await connect(1000, { said: {}, pool });
  expect([agents[0], agents.at(-1)].map((one) => one?.headers.get(redialHeader))).toEqual(["0", "20"]);
  await evictDurableObject(pool);
  for (let builds = 0; builds < 20; builds += 1) expect(await pool.wake(work)).toBe(true);
  // The agent's own report arrives after all notices that were sent before it.
  await agents[0]?.reports({});
  expect(sum(counts(agents))).toBe(20);
  expect(Math.max(...counts(agents))).toBe(1);
  for (const one of agents) one.close();
}, 300_000);
