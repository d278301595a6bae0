import { sendOutbox } from "#domain/events/events";
import { forgetAuditLog } from "#domain/accounts/audit";
import { removeAccounts } from "#domain/accounts/removal";
import { forgetIdempotentAnswers } from "#domain/accounts/idempotency";
import { removeReleasedContents, removeStrayContents } from "#domain/contents/content-sweep";
import {
  refreshRepositories,
  removeStrayDownloads,
  removeStrayPackages,
  removeStraySolvs,
} from "#domain/repositories/refresh";
import { resumeImports } from "#domain/repositories/turns";
import { fixUserRepositories, removeReleasedUploads, removeStrayUploads, thawOverBuilds } from "#domain/rpms/sweep";
import { expirePreparedRoots } from "#domain/builds/prepared-root";
import { expireOldImages } from "#domain/builds/retention";
import {
  abortLostUploads,
  forgetRetiredBuilds,
  removeStrayBuildBlobs,
  removeStrayInputs,
  wakeLostBuilds,
} from "#domain/sweep";
import { deletionPause } from "#domain/service-settings";
import { wakeTestdrives } from "#domain/testdrives/testdrive";
import { openDatabase, type Database } from "#storage/db";

type Chore = (env: Env, db: Database, now: number) => Promise<void>;

const repairs: readonly Chore[] = [
  wakeLostBuilds,
  wakeTestdrives,
  sendOutbox,
  refreshRepositories,
  resumeImports,
  fixUserRepositories,
  forgetIdempotentAnswers,
];

/** Chores that an operator can pause, because a restored database may refer to things that the previous one did not need. */
const deletions: readonly Chore[] = [
  removeAccounts,
  forgetAuditLog,
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
  removeReleasedUploads, // before the next one, which deletes the time of their release
  removeReleasedContents,
  removeStrayContents,
  abortLostUploads,
];

/** Runs every minute, and repairs what a crash left behind. If one chore fails, the others still run. */
export async function sweep(event: ScheduledController, env: Env): Promise<void> {
  const db = openDatabase(env.DB);
  const run = async (chore: Chore) =>
    chore(env, db, event.scheduledTime).catch((error: unknown) => console.error(`${chore.name}:`, error));
  for (const chore of repairs) await run(chore);
  const { paused } = await deletionPause(env);
  if (!paused) for (const chore of deletions) await run(chore);
}
