import type { Place } from "#domain/place";
import type { BuildClaim, Capabilities } from "#contract/index";
import { buildObject } from "#domain/builds/build";
import { canDo } from "#domain/builds/builder-abilities";
import { blobsIn } from "#domain/builds/frozen-content";
import { expectedSecondsOf, mostSimilar } from "#domain/builds/duration";
import { saveCapabilities, type Agent } from "#storage/agents";
import { isRootShared } from "#domain/builds/prepared-root";
import { getInput } from "#storage/build-blobs";
import { listHeldBy, listQueued, type Build } from "#storage/builds";
import type { Database } from "#storage/db";
import { listEarlierSteps } from "#storage/estimates";
import { keepPackages } from "#domain/builds/stored-packages";
import { logFailure } from "#log/log";
import { freezeBlobs } from "#storage/frozen-blobs";

/** Builds that are read in one query. */
const candidatesAtOnce = 10;

/** Claims the oldest build that the agent can do. Null: there is none, the agent has no room, or it is drained. */
export async function claimBuild(
  { env, db }: Place,
  agent: Agent,
  capabilities: Capabilities,
): Promise<BuildClaim | null> {
  const isFull = capabilities.hasRoom === false;
  if (hasChanged(agent.capabilities, capabilities)) await saveCapabilities(db, agent.id, capabilities);
  if (isFull || agent.drainedAt !== null) return null;
  for await (const build of candidates(db, capabilities)) {
    const claim = await claimOne({ env, db }, agent, build);
    if (claim) return claim;
  }
  return null;
}

/** While an agent runs, its disk may fill, and its operator may add and remove builder roots. */
const hasChanged = (known: Capabilities | null, now: Capabilities): boolean =>
  (known?.hasRoom === false) !== (now.hasRoom === false) ||
  JSON.stringify(known?.roots ?? []) !== JSON.stringify(now.roots ?? []);

/** All queued builds that the agent can do. A row from a restored backup refuses until the sweep corrects it, and must not hide others. */
async function* candidates(db: Database, can: Capabilities): AsyncGenerator<Build> {
  let after = 0;
  for (;;) {
    const page = await listQueued(db, { after, limit: candidatesAtOnce });
    for (const { build, arch } of page) if (canDo(can, { ...build, arch })) yield build;
    const last = page.at(-1);
    if (!last || page.length < candidatesAtOnce) return;
    after = last.build.id;
  }
}

async function claimOne({ env, db }: Place, agent: Agent, build: Build): Promise<BuildClaim | undefined> {
  const object = buildObject(env, build);
  const earlierPhases = await earlierPhasesOf(db, build);
  const claimed = await object.claim(agent.id, expectedSecondsOf(earlierPhases));
  // Another agent was faster, or the build was cancelled.
  if ("refused" in claimed) return undefined;
  const { attempt, token, timeLimitMs, requestId } = claimed;
  try {
    const [input, sharesRoot] = await Promise.all([
      getInput(env.BLOBS, build.inputSha256),
      isRootShared({ env, db }, build),
    ]);
    // An interrupted start may have stored only the row.
    await freezeBlobs(db, build.id, blobsIn(input));
    await keepPackages({ env, db }, build.id, input);
    const more = { ...(sharesRoot && { sharesRoot }), ...(requestId !== undefined && { requestId }) };
    return { buildId: build.id, attempt, token, timeLimitMs, input, earlierPhases, ...more };
  } catch (error) {
    // Costs this build an attempt, so that it cannot block all others forever.
    logFailure("could not hand out a build", error, { buildId: build.id });
    await object.fail(token, { kind: "error", reason: "The service could not read what to build." });
    return undefined;
  }
}

/** A build starts even if its earlier builds cannot be read. */
async function earlierPhasesOf(db: Database, build: Build): Promise<Record<string, number>[]> {
  try {
    return mostSimilar(await listEarlierSteps(db, build), build.imageType);
  } catch (error) {
    logFailure("could not read how long similar builds took", error, { buildId: build.id });
    return [];
  }
}

/** Ends the leases of an agent that has restarted; returns how many there were. */
export async function endLeases({ env, db }: Place, agent: Agent): Promise<number> {
  const held = await listHeldBy(db, agent.id);
  const ended = await Promise.all(held.map((build) => buildObject(env, build).endLease(agent.id)));
  return ended.filter(Boolean).length;
}
