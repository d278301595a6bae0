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
import { wakeSilentTestdrives } from "#domain/testdrives/testdrive";
import { watchImages } from "#domain/updates/watch";
import { removeExpiredUploads, removeStrayTails } from "#domain/uploads/sweep";
import { logFailure } from "#log/log";
import { openDatabase } from "#storage/db";
import { saveChoreSuccess } from "#storage/metrics";

/** A task of the sweep. It handles one page at a time, and two runs may overlap. */
type Chore = (services: Services, now: number) => Promise<void>;

const repairs: Record<string, Chore> = {
  wakeSilentBuilds,
  wakeSilentTestdrives,
  wakeChecks,
  sendOutbox,
  logPublished,
  refreshRepositories,
  resumeImports,
  fixUserRepositories,
  forgetIdempotentAnswers,
  forgetReservations,
  watchImages,
  listInstalledPackages,
  readFeeds,
  countImageAdvisories,
  measureStorage,
};

/** Chores that an operator can pause, because a restored database may refer to things that the previous one did not need. */
const deletions: Record<string, Chore> = {
  removeAccounts,
  forgetAuditLog,
  forgetSessions,
  forgetTestdrives,
  forgetRetiredBuilds,
  expireOldImages,
  forgetImagelessBuilds,
  expirePreparedRoots,
  removeStrayBuildBlobs,
  removeStrayInputs,
  releaseUnneededPackages,
  removeReleasedPackages,
  removeStrayPieces,
  removeStraySolvs,
  removeStrayDownloads,
  removeStrayPackages,
  removeExpiredUploads,
  removeStrayTails,
  removeStrayUploads,
  removeReleased,
  removeStrayContents,
  abortLostUploads,
};

export const chores: readonly string[] = [...Object.keys(repairs), ...Object.keys(deletions)];

/**
 * Chores that make few calls, however much there is to do: each handles a page of keys or rows with as many statements
 * as an empty one. They share a message, because a message each would cost more than their work.
 */
const [firstBrief, ...otherBriefs] = [
  "removeStrayBuildBlobs",
  "removeStrayInputs",
  "removeStrayPieces",
  "removeStraySolvs",
  "removeStrayDownloads",
  "removeStrayTails",
  "removeStrayUploads",
  "removeStrayContents",
  "releaseUnneededPackages",
  "removeReleasedPackages",
  "expirePreparedRoots",
  "forgetAuditLog",
  "forgetSessions",
  "forgetTestdrives",
  "forgetIdempotentAnswers",
  "forgetReservations",
  "measureStorage",
];

/**
 * Requests a run of a chore, and `also` of others, in the same invocation; `at` is the time that they use as now. A
 * Worker of the release before knows only `chore`, and does the others in the next minute.
 */
export const ChoreMessage = z.object({
  chore: z.enum(chores),
  also: z.array(z.enum(chores)).default([]),
  at: z.int().positive(),
});
export type ChoreMessage = z.infer<typeof ChoreMessage>;

/** The messages of one sweep, which request each chore once. */
export const messagesOf = (at: number): ChoreMessage[] => {
  const brief = new Set([firstBrief, ...otherBriefs]);
  const others = chores.filter((chore) => !brief.has(chore)).map((chore) => ({ chore, also: [], at }));
  return [{ chore: firstBrief, also: otherBriefs, at }, ...others];
};

/** Longer than a chore takes. A chore that hangs must not stop the ones after it. */
const longestMs = 2 * 60_000;

/** Runs a chore. A failure is only logged: the next sweep repeats the chore. */
export async function doChore(env: Env, { chore, at }: Pick<ChoreMessage, "chore" | "at">): Promise<void> {
  const isDone = new AbortController();
  const tooLong = scheduler.wait(longestMs, { signal: isDone.signal }).then(
    () => logFailure("a chore is taking too long", `it has run for ${longestMs / 60_000} minutes`, { chore }),
    () => {},
  );
  const work = run(env, chore, at).catch((error: unknown) => logFailure("a chore failed", error, { chore }));
  await Promise.race([work, tooLong]);
  isDone.abort();
}

async function run(env: Env, chore: string, at: number): Promise<void> {
  const services = { env, db: openDatabase(env.DB) };
  await repairs[chore]?.(services, at);
  const deletion = deletions[chore];
  if (deletion && !(await deletionPause(env)).paused) await deletion(services, at);
  await saveChoreSuccess(services.db, chore, new Date(at));
}

/**
 * A single chore, because the order matters: the last step deletes the times of release, which the other steps need.
 */
async function removeReleased(services: Services, now: number): Promise<void> {
  await thawOverBuilds(services, now);
  await removeReleasedUploads(services, now);
  await removeReleasedContents(services, now);
}
