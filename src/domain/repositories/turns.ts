import type { Services } from "#domain/services";
import { giveUpImport, importRepository, type Patience } from "#domain/repositories/import";
import { sendImport } from "#domain/repositories/import-queue";
import { leaseEnd, whileRenewed } from "#domain/request-lease";
import {
  queueImports,
  beginTry,
  endLostTurn,
  endTry,
  endTurn,
  giveAllTurnsBack,
  releaseLostSlots,
  releaseSlot,
  listQueues,
  moveToPatient,
  renewTry,
  acquireSlot,
  type ImportLease,
  type ImportQueue,
} from "#storage/import-turns";
import { addToCounters } from "#storage/counters";
import type { Database } from "#storage/db";
import { findRepository, markImporting } from "#storage/repositories";

/**
 * Imports take turns between accounts: each account has at most one quick and one patient import in a queue, so that an
 * account with many slow mirrors delays only itself.
 *
 *     requested ─▶ waits ─▶ sent to kiln-imports ─▶ ended
 *                                   │ its mirror is slow
 *                                   ▼
 *                  waits ─▶ sent to kiln-slow-imports ─▶ ended
 *
 * A message that fails or is killed at every try goes to kiln-dead-imports, and its import is given up.
 */

/** How often the queues deliver a message: `max_retries` in wrangler.toml, plus the first delivery. */
const maxTries = 4;
/**
 * How soon an import may begin again if its consumer was killed. A consumer renews the lease, even while it reads large
 * lists.
 */
const leaseMs = 60_000;
/**
 * A message that has not arrived by then counts as lost. A queue may be long, but a duplicate message costs only one
 * more check of the mirror.
 */
const lostMs = 20 * 60_000;
/** How many accounts' queues one run of the sweep continues. */
const queuesPerRun = 500;

/** Requests imports. Each one begins when its account has the turn. */
export async function requestImports({ env, db }: Services, repositoryIds: readonly number[]): Promise<void> {
  if (repositoryIds.length > 0) await sendNext({ env, db }, await queueImports(db, repositoryIds, new Date()));
}

/** Requests imports whose end the caller can wait for: from now on, the rows show that an import is in progress. */
export async function requestNewImports({ env, db }: Services, repositoryIds: number[]): Promise<void> {
  await markImporting(db, repositoryIds);
  await requestImports({ env, db }, repositoryIds);
}

/**
 * Imports a repository whose turn it is, and then gives the turn to the next one. A thrown error is a fault of this
 * service, and the import keeps its turn.
 */
export async function importInTurn(
  { env, db }: Services,
  { repositoryId, patience }: { repositoryId: number; patience: Patience },
): Promise<void> {
  const now = new Date();
  const leaseEndsAt = leaseEnd(now.getTime(), leaseMs);
  const turn = await beginTry(db, repositoryId, { now, leaseEndsAt });
  if (turn === "busy") return;
  // The import of a message without a turn has already ended: the message came twice, or late.
  if (!turn) return;
  const work = () => importRepository({ env, db }, repositoryId, { patience });
  const lease = { repositoryId, ends: [leaseEndsAt] };
  if (turn.tries > maxTries) return giveUpSlot({ env, db }, repositoryId, lease);
  const end = await whileRenewed((endsAt) => renew(db, lease, endsAt), work, leaseMs).catch(async (error: unknown) => {
    await endTry(db, lease);
    throw error;
  });
  if (end === "too_slow") await moveToPatient(db, lease);
  else await endTurn(db, lease, now);
  await sendNext({ env, db }, queuesOf(turn));
}

/** Remembers the new end before writing it, because the answer may be lost. */
async function renew(db: Database, lease: { repositoryId: number; ends: Date[] }, endsAt: Date): Promise<void> {
  lease.ends.push(endsAt);
  if (await renewTry(db, lease, endsAt)) lease.ends = [endsAt];
}

/**
 * Ends an import that failed at every try, and records that in its row.
 *
 * @param lease the consumer's lease, if it has one
 */
export async function giveUpSlot({ env, db }: Services, repositoryId: number, lease?: ImportLease): Promise<void> {
  await giveUpImport(
    db,
    repositoryId,
    `Its import was given up after ${maxTries} attempts. Each failed, or used too much memory or time.`,
  );
  await addToCounters(db, [{ name: "imports_given_up", label: "", value: 1 }], new Date());
  const repository = await findRepository(db, repositoryId);
  if (lease) await endTurn(db, lease, new Date());
  else await endLostTurn(db, repositoryId, new Date());
  if (repository) await sendNext({ env, db }, queuesOf({ accountId: repository.accountId ?? 0 }));
}

/** Runs every minute: sends lost turns again, and continues queues in which every import is waiting. */
export async function resumeImports({ env, db }: Services, now: number): Promise<void> {
  await releaseLostSlots(db, { now: new Date(now), sentBefore: new Date(now - lostMs) });
  await sendNext({ env, db }, await listQueues(db, queuesPerRun));
}

/**
 * Sends every turn again, because the queues were in the memory of a process that has ended. Earlier tries still count,
 * because one of these imports may have caused that process to end.
 */
export async function resumeAllImports({ env, db }: Services): Promise<void> {
  await giveAllTurnsBack(db);
  await sendNext({ env, db }, await listQueues(db, queuesPerRun));
}

const queuesOf = ({ accountId }: Pick<ImportQueue, "accountId">): ImportQueue[] => [
  { accountId, patience: "quick" },
  { accountId, patience: "patient" },
];

async function sendNext({ env, db }: Services, queues: readonly ImportQueue[]): Promise<void> {
  const different = new Map(queues.map((queue) => [`${queue.accountId} ${queue.patience}`, queue]));
  for (const queue of different.values()) {
    const repositoryId = await acquireSlot(db, queue, new Date());
    if (repositoryId === undefined) continue;
    try {
      await sendImport(env, queue.patience, { repositoryId });
    } catch (error) {
      await releaseSlot(db, repositoryId);
      throw error;
    }
  }
}
