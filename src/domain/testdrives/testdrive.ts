import {
  imageFormats,
  type ImageType,
  type Incarnation,
  portsOfChecks,
  productOf,
  type Seed,
  type TestdriveClaim,
  type TestdriveClaimRequest,
  visitedPort,
} from "#lib/contract/index";
import { getKeptMachine, type KeptMachine } from "#domain/checks/kept-machine";
import { boundTo } from "#domain/attempt-token";
import { offers } from "#domain/claimant";
import { wantsScreen } from "#domain/gallery/screen";
import { makeOnce } from "#domain/accounts/idempotency";
import type { Services } from "#domain/services";
import { Refusal } from "#domain/refusal";
import { checkCloudConfig } from "#domain/testdrives/cloud-config";
import { newToken, sameSecret, encryptSecret, decryptSecret, type EncryptionKey } from "#domain/secrets";
import { wakeAfterStart } from "#domain/liveness";
import { claimWithinMs, type TestdriveState } from "#domain/testdrives/machine";
import { requestIdNow } from "#log/request-id";
import { configurationOf } from "#lib/configuration/stored";
import type { Account } from "#storage/accounts";
import type { Agent } from "#storage/agents";
import { findAppliance, findBaseSystem } from "#storage/appliances";
import { findBuild, type Build } from "#storage/builds";
import type { Database } from "#storage/db";
import {
  addTestdrive,
  findTestdrive,
  findTestdriveByUid,
  listLiveTestdrives,
  listNewTestdrives,
  listTestdrivesOfAgent,
  type Testdrive,
} from "#storage/testdrives";

/** The answer to an agent's claim, without the parts that the session's object adds. */
export type TestdriveFacts = Omit<TestdriveClaim, "token" | "password" | "seed">;

/** Where any VNC client can reach the machine. Null if the agent has no address for VNC clients. */
export type VncAddress = { host: string; port: number } | null;

/** A session, as its object sees it. */
export interface TestdriveLook {
  state: TestdriveState;
  vnc: VncAddress;
  password: string;
}

/**
 * The longest time that a session for checks may take, by the host's clock. The deadlines of the checks count seconds
 * of the guest's clock.
 */
export const checkSessionMs = 2 * 60 * 60_000;

/** The part of the Worker's environment that testdrives need. */
export type TestdriveEnv = Pick<Env, "BLOBS" | "TESTDRIVES" | "MAX_TESTDRIVES" | "MAX_TESTDRIVES_PER_ACCOUNT"> &
  EncryptionKey;

/** The object of a testdrive. The object's state is authoritative, and the testdrive's sockets end in it. */
export const testdriveObject = (env: Pick<Env, "TESTDRIVES">, { uid }: Pick<Testdrive, "uid">) =>
  env.TESTDRIVES.getByName(uid);

export interface StartedTestdrive {
  testdrive: Testdrive;
  /** Null if the agent has no address for VNC clients. The page works without it. */
  vnc: VncAddress;
  password: string;
}

interface TestdriveRequest {
  hasNetwork: boolean;
  /** The machine to continue. By default, the image boots. */
  kept?: KeptMachine | undefined;
  seed?: Seed | undefined;
  /** The id of a request that may be repeated. */
  requestId?: string | undefined;
}

/**
 * Takes a slot, waits at most 10 s until an agent has claimed the session, and returns. With `checkRunId`, it continues
 * the machine of that run.
 */
export async function startTestdrive(
  { env, db }: Services<TestdriveEnv>,
  account: Pick<Account, "id">,
  { buildId, checkRunId, ...request }: TestdriveRequest & { buildId: number; checkRunId?: number | undefined },
): Promise<StartedTestdrive> {
  const build = await findBuild(db, account.id, buildId);
  if (!build) throw new Refusal("invalid_build_id");
  const kept = checkRunId === undefined ? undefined : await getKeptMachine(db, buildId, checkRunId);
  return await startTestdriveOf({ env, db }, account, { build, kept, ...request });
}

/** Why an image of this type cannot be booted, as a sentence. Undefined if it can. */
export function whyNoTestdrive(imageType: ImageType): string | undefined {
  if (productOf(imageType).startsAlone) return undefined;
  return imageFormats[imageType].product === "container"
    ? `The type ${imageType} is a container: it has no disk, and runs on the kernel of its host.`
    : "A net build has neither disk nor medium: it starts from your own PXE and web server, which testdrives cannot reach.";
}

/** Like `startTestdrive`, for a build of any account that this one may boot. */
export async function startTestdriveOf(
  { env, db }: Services<TestdriveEnv>,
  account: Pick<Account, "id">,
  { build, kept, seed, requestId, ...request }: TestdriveRequest & { build: Build },
): Promise<StartedTestdrive> {
  const why = whyNoTestdrive(build.imageType);
  if (why !== undefined) throw new Refusal("build_not_found", { message: why });
  const facts = await bootFacts(db, build);
  if (!facts) throw new Refusal("build_not_found");
  if (seed && kept) throw new Refusal("invalid_value", { message: alreadyBooted });
  if (seed) await checkCloudConfig(env, build, seed);
  const limits = slotsOf(env);
  const ports = kept ? portsOfChecks(kept.checks) : request.hasNetwork ? [visitedPort] : [];
  const webToken = ports.includes(visitedPort) ? await encryptSecret(env, newToken()) : undefined;
  const tokens = { pageToken: await encryptSecret(env, newToken()), webToken };
  const wakeAt = wakeAfterStart(new Date());
  const row = { uid: requestId, accountId: account.id, buildId: build.id, ...tokens, wakeAt };
  const testdrive = await makeOnce(requestId, {
    find: (uid) => findTestdriveByUid(db, uid),
    make: () => addTestdrive(db, row, limits),
  });
  if (!testdrive) throw await noSlot(db, account, limits.perAccount);
  if (testdrive.state === "ended") throw unclaimed(kept);

  const given = { ...facts, testdriveId: testdrive.id, hasNetwork: ports.length > 0, requestId: requestIdNow() };
  const machine = kept ? { ...given, continuesAfter: kept.checks, wantsScreen: false } : given;
  const started = await testdriveObject(env, testdrive).start(machine, seed, kept?.agentId);
  if ("refused" in started) throw unclaimed(kept);
  return { testdrive: await decrypted(env, testdrive), vnc: started.claimed.vnc, password: started.claimed.password };
}

/** How many testdrives there may be, in total and per account. */
export const slotsOf = (env: Pick<Env, "MAX_TESTDRIVES" | "MAX_TESTDRIVES_PER_ACCOUNT">) => ({
  all: Number(env.MAX_TESTDRIVES),
  perAccount: Number(env.MAX_TESTDRIVES_PER_ACCOUNT),
});

const alreadyBooted = "A machine that continues has already booted: it takes no data for a first boot.";

const unclaimed = (kept: KeptMachine | undefined) =>
  new Refusal("no_build_slots", {
    message: kept
      ? "The builder that keeps this machine is not free, or not connected. Please try again later."
      : "No builder agent is free to run a testdrive. Please try again later.",
  });

/**
 * The refusal if there is no free slot. If the account has reached its own limit, the user can end one of its
 * testdrives.
 */
async function noSlot(db: Database, { id }: Pick<Account, "id">, perAccount: number): Promise<Refusal> {
  const own = await listLiveTestdrives(db, id);
  if (own.length < perAccount) return new Refusal("no_build_slots");
  const message = `You have ${own.length} testdrives running, and an account may have ${perAccount}, including checks of images. Each ends 60 seconds after its last viewer has left.`;
  return new Refusal("no_build_slots", { message });
}

/** Gives the oldest waiting testdrive to an agent. If two agents claim it, its object decides. */
export async function claimTestdrive(
  { env, db }: Services<Pick<Env, "TESTDRIVES" | "API_KEY_PEPPER">>,
  agent: Pick<Agent, "id" | "drainedAt" | "tokenHmac">,
  { incarnation, nonce, isRepeated, ...offer }: TestdriveClaimRequest,
  /**
   * Creates sessions that check images, one after another. They come after people's sessions. Undefined if the agent
   * runs no checks.
   */
  checks?: () => AsyncIterable<Testdrive>,
): Promise<TestdriveClaim | undefined> {
  if (agent.drainedAt !== null) return undefined;
  const offered = offers(
    { isRepeated },
    {
      held: () => listTestdrivesOfAgent(db, agent.id),
      waiting: async function* () {
        const fresh = await listNewTestdrives(db, new Date(Date.now() - claimWithinMs));
        yield* fresh.filter(({ isCheck }) => !isCheck || checks);
        if (checks) yield* checks();
      },
    },
  );
  for await (const testdrive of offered) {
    const answer = await testdriveObject(env, testdrive).claim({ agentId: agent.id, incarnation, nonce }, offer);
    if ("refused" in answer) continue;
    return { ...answer.claimed, token: boundTo(agent, env.API_KEY_PEPPER, answer.claimed.token) };
  }
  return undefined;
}

/** Ends the sessions that earlier processes of a restarted agent ran. */
export async function endTestdrivesOf(
  { env, db }: Services<Pick<Env, "TESTDRIVES">>,
  agent: Pick<Agent, "id">,
  incarnation: Incarnation | undefined,
) {
  const live = await listTestdrivesOfAgent(db, agent.id);
  await Promise.all(live.map((testdrive) => testdriveObject(env, testdrive).endOfAgent(agent.id, incarnation)));
}

/** Ends the sessions of an agent that the operator has removed. */
export async function takeTestdrivesFrom({ env, db }: Services<Pick<Env, "TESTDRIVES">>, agent: Pick<Agent, "id">) {
  const live = await listTestdrivesOfAgent(db, agent.id);
  await Promise.all(live.map((testdrive) => testdriveObject(env, testdrive).agentRemoved(agent.id)));
}

type TestdriveStore = Services<EncryptionKey>;

/** The account's live sessions; with an appliance, only those of its builds. */
export async function listTestdrives(
  { db, env }: TestdriveStore,
  accountId: number,
  applianceId: number | null,
): Promise<Testdrive[]> {
  const live = await listLiveTestdrives(db, accountId, applianceId);
  const own = live.filter(({ isCheck }) => !isCheck);
  return await Promise.all(own.map((testdrive) => decrypted(env, testdrive)));
}

/** The testdrive with its tokens in clear. */
async function decrypted(env: EncryptionKey, testdrive: Testdrive): Promise<Testdrive> {
  const { pageToken, webToken } = testdrive;
  return {
    ...testdrive,
    pageToken: await decryptSecret(env, pageToken),
    webToken: webToken && (await decryptSecret(env, webToken)),
  };
}

async function findOpened({ db, env }: TestdriveStore, id: number): Promise<Testdrive | undefined> {
  const testdrive = await findTestdrive(db, id);
  return testdrive && (await decrypted(env, testdrive));
}

/** The testdrive of a page's URL. A wrong token counts as a wrong id. */
export async function findTestdriveByPage(
  store: TestdriveStore,
  id: number,
  pageToken: string,
): Promise<Testdrive | undefined> {
  const testdrive = await findOpened(store, id);
  return testdrive && sameSecret(testdrive.pageToken, pageToken) ? testdrive : undefined;
}

/** Like `findTestdriveByPage`, for the URL of the guest's web server. */
export async function findTestdriveByWeb(
  store: TestdriveStore,
  id: number,
  webToken: string,
): Promise<Testdrive | undefined> {
  const testdrive = await findOpened(store, id);
  return testdrive?.webToken && sameSecret(testdrive.webToken, webToken) ? testdrive : undefined;
}

/** Undefined if it ended so long ago that its object has deleted its state. */
export const lookAtTestdrive = (
  env: Pick<Env, "TESTDRIVES">,
  testdrive: Testdrive,
): Promise<TestdriveLook | undefined> => testdriveObject(env, testdrive).look();

export const stopTestdrive = (env: Pick<Env, "TESTDRIVES">, testdrive: Testdrive): Promise<TestdriveLook | undefined> =>
  testdriveObject(env, testdrive).stop();

/** The facts that determine the machine. Undefined if there is no image to boot. */
export async function bootFacts(db: Database, build: Build): Promise<Omit<TestdriveFacts, "testdriveId"> | undefined> {
  const { fileName, fileSize: size, rawSize, sha256, imageKey } = build;
  const appliance = await findAppliance(db, build.accountId, build.applianceId);
  const base = appliance && (await findBaseSystem(db, appliance.baseSystem));
  if (build.status !== "finished" || !appliance || !imageKey || !fileName || !size || !rawSize || !sha256) {
    return undefined;
  }
  return {
    buildId: build.id,
    imageType: build.imageType,
    arch: appliance.arch,
    hasSecureBoot: build.hasSecureBoot,
    wantsScreen: await wantsScreen(db, build),
    memoryMb: Math.max(configurationOf(appliance).settings.memorySizeMb, base?.facts.testdriveMemoryMb ?? 0),
    image: { fileName, size, sha256, rawSize, compressed: build.compressed ?? false },
  };
}
