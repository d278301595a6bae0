import { canDoAll, portsOfChecks, startsMachine, type TestdriveClaimRequest } from "#lib/contract/index";
import type { Services } from "#domain/services";
import { encryptSecret, newToken } from "#domain/secrets";
import { wakeAfterStart } from "#domain/liveness";
import { bootFacts, slotsOf, testdriveObject, type TestdriveEnv } from "#domain/testdrives/testdrive";
import { findAnyBuild } from "#storage/builds";
import { failWaitingRun, listWaitingRuns, takeCheckRun, untakeCheckRun, type CheckRun } from "#storage/check-runs";
import { addTestdrive, type Testdrive } from "#storage/testdrives";

type CheckingAgent = Pick<TestdriveClaimRequest, "machines"> & Parameters<typeof canDoAll>[0];

/** How many runs one claim offers at most. */
const offeredAtOnce = 20;

/**
 * Creates a session for a waiting run only when an agent asks for work, so a run needs no slot while it waits, however
 * long that is. A run whose account has no free slot is skipped.
 */
export async function* checkSessions(
  services: Services<TestdriveEnv>,
  agent: CheckingAgent,
): AsyncGenerator<Testdrive> {
  for (const run of await listWaitingRuns(services.db, offeredAtOnce, slotsOf(services.env))) {
    const testdrive = await sessionOf(services, run, agent);
    if (testdrive) yield testdrive;
  }
}

async function sessionOf(
  { env, db }: Services<TestdriveEnv>,
  run: CheckRun,
  agent: CheckingAgent,
): Promise<Testdrive | undefined> {
  const { accountId, buildId, checks } = run;
  const build = await findAnyBuild(db, buildId);
  const facts = build && (await bootFacts(db, build));
  if (!facts) {
    await failWaitingRun(db, run, "The image no longer exists.");
    return undefined;
  }
  const isAble = startsMachine(agent, facts.arch) && canDoAll(agent, checks);
  if (!isAble) return undefined;
  const uid = crypto.randomUUID();
  const wakeAt = wakeAfterStart(new Date());
  if (!(await takeCheckRun(db, run, { testdriveUid: uid, wakeAt }))) return undefined;
  // Every session has a page, but no one learns the address of this one.
  const pageToken = await encryptSecret(env, newToken());
  const row = { uid, accountId, buildId, pageToken, isCheck: true, wakeAt };
  const testdrive = await addTestdrive(db, row, slotsOf(env));
  if (!testdrive) {
    // Another session has just taken the slot.
    await untakeCheckRun(db, uid);
    return undefined;
  }
  const hasNetwork = portsOfChecks(checks).length > 0;
  const given = { ...facts, testdriveId: testdrive.id, hasNetwork, checks, wantsScreen: false };
  await testdriveObject(env, testdrive).prepare(given);
  return testdrive;
}
