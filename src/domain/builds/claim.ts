import type { Services } from "#domain/services";
import type { Arch, BuildClaim, BuildClaimRequest, Capabilities, Incarnation } from "#lib/contract/index";
import { boundTo } from "#domain/attempt-token";
import { agentsSeen } from "#domain/builds/agents-seen";
import { buildObject } from "#domain/builds/build";
import { canDo } from "#domain/builds/builder-abilities";
import { offers } from "#domain/claimant";
import { blobsIn } from "#domain/builds/frozen-content";
import { expectedSecondsOf, mostSimilar } from "#domain/builds/duration";
import { saveCapabilities, type Agent } from "#storage/agents";
import { isRootShared } from "#domain/builds/prepared-root";
import { getInput, InputLost } from "#storage/build-blobs";
import { listQueued, type PlaceInQueue } from "#storage/build-queue";
import { findAnyBuild, listHeldBy, type Build } from "#storage/builds";
import type { Database } from "#storage/db";
import { listEarlierSteps } from "#storage/estimates";
import { storePackages } from "#domain/builds/stored-packages";
import { logFailure } from "#log/log";
import { freezeBlobs } from "#storage/frozen-blobs";

/** The number of builds that one query reads. */
const candidatesAtOnce = 10;

type Request = Pick<BuildClaimRequest, "capabilities" | "incarnation" | "nonce" | "isRepeated">;

/** Claims the next build that the agent can do. Null if there is none, or if the agent has no room or is drained. */
export async function claimBuild({ env, db }: Services, agent: Agent, request: Request): Promise<BuildClaim | null> {
  const { capabilities } = request;
  const isFull = capabilities.hasRoom === false;
  if (hasChanged(agent.capabilities, capabilities)) await saveCapabilities(db, agent.id, capabilities);
  if (isFull || agent.drainedAt !== null) return null;
  const offered = offers(request, {
    held: () => listHeldBy(db, agent.id),
    waiting: () => candidates({ env, db }, agent, capabilities),
  });
  for await (const build of offered) {
    const claim = await claimOne({ env, db }, { agent, request, build });
    if (claim) return claim === "not_now" ? null : claim;
  }
  return null;
}

/**
 * Whether the agent's abilities have changed. While it runs, its disk may fill up, its operator may add and remove
 * builder roots, and it may find programs that were missing before.
 */
const hasChanged = (known: Capabilities | null, now: Capabilities): boolean => wordsOf(known) !== wordsOf(now);

/** An agent that does not report its room counts as having some. */
const wordsOf = (can: Capabilities | null): string => JSON.stringify(can && { ...can, hasRoom: can.hasRoom !== false });

/**
 * All queued builds that the agent can do. Accounts take turns, and background builds come last. A build whose row is
 * from a restored backup refuses claims until the sweep corrects the row, and must not block other builds.
 */
async function* candidates(services: Services, agent: Agent, can: Capabilities): AsyncGenerator<Build> {
  let after: PlaceInQueue | undefined;
  for (;;) {
    const page = await listQueued(services.db, { after, limit: candidatesAtOnce });
    for (const { build, arch } of page)
      if (canDo(can, { ...build, arch }) && !(await isForAnother(services, agent, { build, arch }))) yield build;
    const last = page.at(-1);
    if (!last || page.length < candidatesAtOnce) return;
    after = last.place;
  }
}

/** How long a rebuild waits for an agent other than the one that built the first image. */
const patienceMs = 10 * 60_000;

/**
 * Whether a rebuild should wait for another agent, because this one built the first image and another one could do it.
 */
async function isForAnother(
  services: Services,
  agent: Agent,
  { build, arch }: { build: Build; arch: Arch },
): Promise<boolean> {
  const since = build.requeuedAt ?? build.createdAt;
  if (build.rebuildOf === null || Date.now() - since.getTime() > patienceMs) return false;
  const first = await findAnyBuild(services.db, build.rebuildOf);
  if (first?.madeBy !== agent.id) return false;
  return (await agentsSeen(services, { ...build, arch }, agent.id)) === "busy";
}

interface Candidate {
  agent: Agent;
  request: Request;
  build: Build;
}

/**
 * Claims a build. Undefined if this build cannot be claimed now, but perhaps another one can. "not_now" if storage
 * fails, because then no other claim would succeed either.
 */
async function claimOne(
  services: Services,
  { agent, request, build }: Candidate,
): Promise<BuildClaim | "not_now" | undefined> {
  const { env, db } = services;
  const { incarnation, nonce } = request;
  const object = buildObject(env, build);
  const earlierPhases = await earlierPhasesOf(db, build);
  const claimed = await object.claim(agent.id, expectedSecondsOf(earlierPhases), { incarnation, nonce });
  // Another agent was faster, or the build has been cancelled.
  if ("refused" in claimed) return undefined;
  const { attempt, timeLimitMs, requestId } = claimed;
  const token = boundTo(agent, env.API_KEY_PEPPER, claimed.token);
  try {
    const frozen = await handOut(services, build);
    const more = requestId === undefined ? {} : { requestId };
    const purpose = build.rebuildOf === null ? { takesDelta: true as const } : { isRebuild: true as const };
    return { buildId: build.id, attempt, token, timeLimitMs, earlierPhases, ...frozen, ...purpose, ...more };
  } catch (error) {
    logFailure("could not hand out a build", error, { buildId: build.id });
    if (!(error instanceof InputLost)) {
      await object.notHandedOut(claimed.token);
      return "not_now";
    }
    // This costs the build an attempt, so that it cannot block all others forever.
    await object.fail(claimed.token, {
      kind: "error",
      reason: "The service could not read what it stored for this build.",
    });
    return undefined;
  }
}

async function handOut({ env, db }: Services, build: Build): Promise<Pick<BuildClaim, "input" | "sharesRoot">> {
  const [input, sharesRoot] = await Promise.all([
    getInput(env.BLOBS, build.inputSha256),
    build.rebuildOf === null && isRootShared({ env, db }, build),
  ]);
  // An interrupted start may have stored only the row.
  await freezeBlobs(db, build.id, blobsIn(input));
  await storePackages({ env, db }, build.id, input);
  return { input, ...(sharesRoot && { sharesRoot }) };
}

/** Empty if the earlier builds cannot be read, because the build must start anyway. */
async function earlierPhasesOf(db: Database, build: Build): Promise<Record<string, number>[]> {
  try {
    return mostSimilar(await listEarlierSteps(db, build), build.imageType);
  } catch (error) {
    logFailure("could not read how long similar builds took", error, { buildId: build.id });
    return [];
  }
}

/** Gives the builds of an agent that the operator has removed to other agents. */
export async function takeBuildsFrom({ env, db }: Services, agent: Agent): Promise<void> {
  const held = await listHeldBy(db, agent.id);
  await Promise.all(held.map((build) => buildObject(env, build).agentRemoved(agent.id)));
}

/**
 * Ends the leases of earlier processes of a restarted agent. Returns how many were ended, and how many leases another
 * host holds with the agent's token.
 */
export async function endLeases(
  { env, db }: Services,
  agent: Agent,
  incarnation: Incarnation | undefined,
): Promise<{ ended: number; elsewhere: number }> {
  const held = await listHeldBy(db, agent.id);
  const ends = await Promise.all(held.map((build) => buildObject(env, build).endLease(agent.id, incarnation)));
  const count = (end: "ended" | "elsewhere") => ends.filter((each) => each === end).length;
  return { ended: count("ended"), elsewhere: count("elsewhere") };
}
