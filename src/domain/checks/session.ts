import { canDoAll, portsOfChecks, startsMachine, type TestdriveClaimRequest } from "#lib/contract/index";
import type { Services } from "#domain/services";
import { encryptSecret, newToken } from "#domain/secrets";
import { wakeAfterStart } from "#domain/liveness";
import { bootFacts, slotsOf, testdriveObject, type TestdriveEnv } from "#domain/testdrives/testdrive";
import { findAnyBuild } from "#storage/builds";
import {
  failWaitingRun,
  listWaitingRuns,
  takeCheckRun,
  untakeCheckRun,
  type CheckRun,
  type PlaceOfRun,
  type WaitingRun,
} from "#storage/check-runs";
import { addTestdrive, type Testdrive } from "#storage/testdrives";

type CheckingAgent = Pick<TestdriveClaimRequest, "machines"> & Parameters<typeof canDoAll>[0];

/** How many runs one query reads. */
const offeredAtOnce = 50;

/**
 * Creates a session for a waiting run only when an agent asks for work, so a run needs no slot while it waits, however
 * long that is. A run whose account has no free slot is skipped.
 */
export async function* checkSessions(
  services: Services<TestdriveEnv>,
  agent: CheckingAgent,
): AsyncGenerator<Testdrive> {
  const slots = slotsOf(services.env);
  let after: PlaceOfRun | undefined;
  for (;;) {
    const page = await listWaitingRuns(services.db, { after, limit: offeredAtOnce, slots });
    for (const { run } of page.filter((one) => canRun(agent, one))) {
      const testdrive = await sessionOf(services, run);
      if (testdrive) yield testdrive;
    }
    if (page.length < offeredAtOnce) return;
    after = page.at(-1)?.place;
  }
}

/** A run that this agent cannot do must not keep it from the runs behind that one. */
const canRun = (agent: CheckingAgent, { run, arch }: WaitingRun): boolean =>
  canDoAll(agent, run.checks) && (arch === null || startsMachine(agent, arch));

async function sessionOf({ env, db }: Services<TestdriveEnv>, run: CheckRun): Promise<Testdrive | undefined> {
  const { accountId, buildId, checks } = run;
  const build = await findAnyBuild(db, buildId);
  const facts = build && (await bootFacts(db, build));
  if (!facts) {
    await failWaitingRun(db, run, "The image no longer exists.");
    return undefined;
  }
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
