import type { Services } from "#domain/services";
import { buildObject } from "#domain/builds/build";
import { endStreams } from "#domain/events/events";
import { Refusal } from "#domain/refusal";
import { stopTestdrive } from "#domain/testdrives/testdrive";
import { saveLock, type Account } from "#storage/accounts";
import { listUnfinishedOf } from "#storage/builds";
import type { Database } from "#storage/db";
import { listLiveTestdrives } from "#storage/testdrives";

type LockEnv = Pick<Env, "BUILDS" | "EVENTS" | "TESTDRIVES">;

/**
 * Refuses every sign-in from now on, and then ends all builds and testdrives. Repeating it is safe. It then also ends
 * work that was started in the meantime by a request that had already signed in.
 */
export async function lockAccount({ env, db }: Services<LockEnv>, account: Account): Promise<void> {
  await saveLock(db, account.id, new Date());
  await endStreams(env, account);
  await endWork({ env, db }, account);
}

/** Cancels the builds and ends the testdrives of an account. */
export async function endWork({ env, db }: Services<LockEnv>, { id }: Account): Promise<void> {
  const [builds, testdrives] = await Promise.all([listUnfinishedOf(db, id), listLiveTestdrives(db, id)]);
  await Promise.all([
    ...builds.map((build) => buildObject(env, build).cancel()),
    ...testdrives.map((testdrive) => stopTestdrive(env, testdrive)),
  ]);
}

export const unlockAccount = (db: Database, { id }: Account): Promise<void> => saveLock(db, id, null);

/**
 * Refuses a locked account. Call it after checking the credentials: no one else may learn that the account is locked.
 */
export function refuseLocked({ lockedAt }: Account): void {
  if (lockedAt === null) return;
  throw new Refusal("access_denied", { message: "This account is locked. Only the operator can unlock it." });
}
