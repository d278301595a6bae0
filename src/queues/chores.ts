import type { Services } from "#domain/services";
import { z } from "zod";
import { removeAccounts } from "#domain/accounts/removal";
import { forgetAuditLog } from "#domain/accounts/audit";
import { readFeeds } from "#domain/advisories/import";
import { countImageAdvisories } from "#domain/advisories/count-images";
import { listInstalledPackages } from "#domain/advisories/listed-packages";
import { forgetIdempotentAnswers } from "#domain/accounts/idempotency";
import { forgetReservations } from "#domain/accounts/room";
import { forgetSessions } from "#domain/accounts/sessions";
import { expirePreparedRoots } from "#domain/builds/prepared-root";
import { expireOldImages, forgetImagelessBuilds } from "#domain/builds/retention";
import { releaseUnneededPackages, removeReleasedPackages, removeStrayPieces } from "#domain/builds/stored-packages";
import { wakeChecks } from "#domain/checks/sweep";
import { removeReleasedContents, removeStrayContents } from "#domain/contents/content-sweep";
import { sendOutbox } from "#domain/events/events";
import { logPublished } from "#domain/log/log";
import {
  refreshRepositories,
  removeStrayDownloads,
  removeStrayPackages,
  removeStraySolvs,
} from "#domain/repositories/refresh";
import { resumeImports } from "#domain/repositories/turns";
import { fixUserRepositories, removeReleasedUploads, removeStrayUploads, thawOverBuilds } from "#domain/rpms/sweep";
import { measureStorage } from "#domain/operation/storage-use";
import { deletionPause } from "#domain/service-settings";
import {
  abortLostUploads,
  forgetRetiredBuilds,
  removeStrayBuildBlobs,
  removeStrayInputs,
  wakeSilentBuilds,
} from "#domain/sweep";
import { forgetTestdrives } from "#domain/testdrives/retention";
import { wakeSilentTestdrives } from "#domain/testdrives/wake";
import { watchImages } from "#domain/updates/watch";
import { removeExpiredUploads, removeStrayTails } from "#domain/uploads/sweep";
import { logFailure } from "#log/log";
import { openDatabase } from "#storage/db";
import { saveChoreSuccess } from "#storage/metrics";

/** A task of the sweep. It handles one page at a time, and two runs may overlap. */
interface Chore {
  /** Returns `true` if more can be done immediately, in another invocation. */
  run(services: Services, now: number): Promise<boolean | void>;
  /**
   * Makes few calls, however much there is to do: a page of keys or rows takes no more statements than an empty page.
   * Such chores share a message, because one message each would cost more than their work.
   */
  isBrief?: true;
  /**
   * Whether an operator can pause it, because a restored database may refer to things that the previous one did not
   * need.
   */
  deletes?: true;
}

const choresByName: Record<string, Chore> = {
  wakeSilentBuilds: { run: wakeSilentBuilds },
  wakeSilentTestdrives: { run: wakeSilentTestdrives },
  wakeChecks: { run: wakeChecks },
  sendOutbox: { run: sendOutbox },
  logPublished: { run: logPublished },
  refreshRepositories: { run: refreshRepositories },
  resumeImports: { run: resumeImports },
  fixUserRepositories: { run: fixUserRepositories },
  forgetIdempotentAnswers: { run: forgetIdempotentAnswers, isBrief: true },
  forgetReservations: { run: forgetReservations, isBrief: true },
  watchImages: { run: watchImages },
  listInstalledPackages: { run: listInstalledPackages },
  readFeeds: { run: readFeeds },
  countImageAdvisories: { run: countImageAdvisories },
  measureStorage: { run: measureStorage, isBrief: true },
  removeAccounts: { run: removeAccounts, deletes: true },
  forgetAuditLog: { run: forgetAuditLog, isBrief: true, deletes: true },
  forgetSessions: { run: forgetSessions, isBrief: true, deletes: true },
  forgetTestdrives: { run: forgetTestdrives, isBrief: true, deletes: true },
  forgetRetiredBuilds: { run: forgetRetiredBuilds, deletes: true },
  expireOldImages: { run: expireOldImages, deletes: true },
  forgetImagelessBuilds: { run: forgetImagelessBuilds, deletes: true },
  expirePreparedRoots: { run: expirePreparedRoots, isBrief: true, deletes: true },
  removeStrayBuildBlobs: { run: removeStrayBuildBlobs, isBrief: true, deletes: true },
  removeStrayInputs: { run: removeStrayInputs, isBrief: true, deletes: true },
  releaseUnneededPackages: { run: releaseUnneededPackages, isBrief: true, deletes: true },
  removeReleasedPackages: { run: removeReleasedPackages, isBrief: true, deletes: true },
  removeStrayPieces: { run: removeStrayPieces, isBrief: true, deletes: true },
  removeStraySolvs: { run: removeStraySolvs, isBrief: true, deletes: true },
  removeStrayDownloads: { run: removeStrayDownloads, isBrief: true, deletes: true },
  removeStrayPackages: { run: removeStrayPackages, deletes: true },
  removeExpiredUploads: { run: removeExpiredUploads, deletes: true },
  removeStrayTails: { run: removeStrayTails, isBrief: true, deletes: true },
  removeStrayUploads: { run: removeStrayUploads, isBrief: true, deletes: true },
  removeReleased: { run: removeReleased, deletes: true },
  removeStrayContents: { run: removeStrayContents, isBrief: true, deletes: true },
  abortLostUploads: { run: abortLostUploads, deletes: true },
};

export const chores: readonly string[] = Object.keys(choresByName);

/**
 * Requests a run of a chore, and of the chores in `also`, in the same invocation. They use `at` as the current time. A
 * Worker of the previous release knows only `chore`; the others then run in the next minute.
 */
export const ChoreMessage = z.object({
  chore: z.enum(chores),
  also: z.array(z.enum(chores)).default([]),
  at: z.int().positive(),
  /** The time of the sweep, if the chore continues later, at `at`. */
  since: z.int().positive().optional(),
});
export type ChoreMessage = z.infer<typeof ChoreMessage>;

/** The messages of one sweep, which request each chore once. */
export function messagesOf(at: number): ChoreMessage[] {
  const [first, ...also] = chores.filter(isBrief);
  const others = chores.filter((chore) => !isBrief(chore)).map((chore) => ({ chore, also: [], at }));
  return first === undefined ? others : [{ chore: first, also, at }, ...others];
}

const isBrief = (chore: string): boolean => choresByName[chore]?.isBrief === true;

/** More time than any chore takes. A chore that hangs must not stop the ones after it. */
const longestMs = 2 * 60_000;

/**
 * How long a chore continues what one sweep requested. The next sweeps request it too, so this also limits how many
 * runs overlap.
 */
const continuedMs = 5 * 60_000;

/** Runs a chore. A failure is only logged: the next sweep repeats the chore. */
export async function doChore(env: Env, asked: Omit<ChoreMessage, "also">): Promise<void> {
  const { chore } = asked;
  const isDone = new AbortController();
  const tooLong = scheduler.wait(longestMs, { signal: isDone.signal }).then(
    () => logFailure("a chore is taking too long", `it has run for ${longestMs / 60_000} minutes`, { chore }),
    () => {},
  );
  const work = run(env, asked).catch((error: unknown) => logFailure("a chore failed", error, { chore }));
  await Promise.race([work, tooLong]);
  isDone.abort();
}

async function run(env: Env, { chore: name, at, since = at }: Omit<ChoreMessage, "also">): Promise<void> {
  const services = { env, db: openDatabase(env) };
  const chore = choresByName[name];
  const isPaused = chore?.deletes && (await deletionPause(env)).paused;
  const isMore = !isPaused && (await chore?.run(services, at)) === true;
  await saveChoreSuccess(services.db, name, new Date(at));
  // Always later than `at`, so that an account that has just had its turn comes after the others.
  const next = Math.max(at + 1, Date.now());
  if (isMore && next < since + continuedMs) await request(env, { chore: name, also: [], at: next, since });
}

const request = (env: Env, message: ChoreMessage) => env.CHORES.send(message, { contentType: "json" });

/**
 * One chore with several steps, because their order matters: the last step deletes the release times, which the other
 * steps need.
 */
async function removeReleased(services: Services, now: number): Promise<void> {
  await thawOverBuilds(services, now);
  await removeReleasedUploads(services, now);
  await removeReleasedContents(services, now);
}
