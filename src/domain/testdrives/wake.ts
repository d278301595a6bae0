import { wakeWhenSilent } from "#domain/liveness";
import type { Services } from "#domain/services";
import { testdriveObject } from "#domain/testdrives/testdrive";
import { logFailure } from "#log/log";
import { saveTestdrive, takeSilentTestdrives, type Testdrive } from "#storage/testdrives";

/** How many objects one run of the sweep wakes. */
const wokenAtOnce = 500;

/** For the sweep: wakes silent testdrives, and frees the slots of rows whose object was never started. */
export async function wakeSilentTestdrives({ env, db }: Services<Pick<Env, "TESTDRIVES">>, now: number): Promise<void> {
  const wakeAt = wakeWhenSilent(now);
  const silent = await takeSilentTestdrives(db, { now: new Date(now), wakeAt, limit: wokenAtOnce });
  await Promise.all(
    silent.map((testdrive) =>
      wake({ env, db }, testdrive).catch((error: unknown) =>
        logFailure("could not wake a testdrive", error, { testdriveId: testdrive.id }),
      ),
    ),
  );
}

async function wake({ env, db }: Services<Pick<Env, "TESTDRIVES">>, testdrive: Testdrive): Promise<void> {
  const { uid, state, agentId } = testdrive;
  const isKnown = await testdriveObject(env, testdrive).wake({ state, agentId });
  if (!isKnown) await saveTestdrive(db, uid, { state: "ended" });
}
