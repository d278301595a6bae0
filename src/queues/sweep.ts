import { sendOutbox } from "#domain/events/events";
import { forgetIdempotentAnswers } from "#domain/accounts/idempotency";
import { removeReleasedContents, removeStrayContents } from "#domain/contents/content-sweep";
import {
  refreshRepositories,
  removeStrayDownloads,
  removeStrayPackages,
  removeStraySolvs,
} from "#domain/repositories/refresh";
import { resumeImports } from "#domain/repositories/turns";
import { mendUserRepositories, removeReleasedUploads, removeStrayUploads, thawOverBuilds } from "#domain/rpms/sweep";
import { expirePreparedRoots } from "#domain/builds/prepared-root";
import { expireOldImages } from "#domain/builds/retention";
import {
  abortLostUploads,
  forgetRetiredBuilds,
  removeStrayBuildBlobs,
  removeStrayInputs,
  wakeLostBuilds,
} from "#domain/sweep";
import { wakeTestdrives } from "#domain/testdrives/testdrive";
import { openDatabase } from "#storage/db";

/** Every minute: what has changed is looked at, and what a crash left lying is picked up. One chore that fails does not keep the others from being done. */
export async function sweep(event: ScheduledController, env: Env): Promise<void> {
  const db = openDatabase(env.DB);
  const chores = [
    wakeLostBuilds,
    wakeTestdrives,
    sendOutbox,
    refreshRepositories,
    resumeImports,
    mendUserRepositories,
    forgetRetiredBuilds,
    expireOldImages,
    expirePreparedRoots,
    removeStrayBuildBlobs,
    removeStrayInputs,
    removeStraySolvs,
    removeStrayDownloads,
    removeStrayPackages,
    thawOverBuilds,
    removeStrayUploads,
    removeReleasedUploads, // before the next one, which forgets when they were released
    removeReleasedContents,
    removeStrayContents,
    abortLostUploads,
    forgetIdempotentAnswers,
  ];
  for (const chore of chores) {
    await chore(env, db, event.scheduledTime).catch((error: unknown) => console.error(`${chore.name}:`, error));
  }
}
