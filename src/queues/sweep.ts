import { sendOutbox } from "#domain/events";
import { forgetIdempotentAnswers } from "#domain/idempotency";
import { removeReleasedContents, removeStrayContents } from "#domain/content-sweep";
import { refreshRepositories, removeStrayPackages, removeStraySolvs } from "#domain/repository-refresh";
import { mendUserRepositories, removeReleasedUploads, removeStrayUploads, thawOverBuilds } from "#domain/rpm-sweep";
import { expirePreparedRoots } from "#domain/prepared-root";
import { expireOldImages } from "#domain/retention";
import { forgetRetiredBuilds, removeStrayBuildBlobs, removeStrayInputs, wakeLostBuilds } from "#domain/sweep";
import { wakeTestdrives } from "#domain/testdrive";
import { openDatabase } from "#storage/db";

/** Every minute: what has changed is looked at, and what a crash left lying is picked up. One chore that fails does not keep the others from being done. */
export async function sweep(event: ScheduledController, env: Env): Promise<void> {
  const db = openDatabase(env.DB);
  const chores = [
    wakeLostBuilds,
    wakeTestdrives,
    sendOutbox,
    refreshRepositories,
    mendUserRepositories,
    forgetRetiredBuilds,
    expireOldImages,
    expirePreparedRoots,
    removeStrayBuildBlobs,
    removeStrayInputs,
    removeStraySolvs,
    removeStrayPackages,
    thawOverBuilds,
    removeStrayUploads,
    removeReleasedUploads, // before the next one, which forgets when they were released
    removeReleasedContents,
    removeStrayContents,
    forgetIdempotentAnswers,
  ];
  for (const chore of chores) {
    await chore(env, db, event.scheduledTime).catch((error: unknown) => console.error(`${chore.name}:`, error));
  }
}
