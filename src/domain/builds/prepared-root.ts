import type { Services } from "#domain/services";
import { countBuilders } from "#storage/agents";
import type { Build } from "#storage/builds";
import { listBuildsOfVersion } from "#storage/builds-of-appliance";
import type { Database } from "#storage/db";
import { deletePreparedBefore, findPreparedRoot, savePreparedRoot } from "#storage/prepared-roots";

const hourMs = 60 * 60_000;
/** A live agent calls more often than this. */
const silentMs = 10 * 60_000;

type UsedEnv = Pick<Env, "KEEP_PREPARED_HOURS" | "BLOBS">;

/** If the setting is 0, empty or invalid, no roots are stored. */
const storedHours = ({ KEEP_PREPARED_HOURS: hours }: Pick<Env, "KEEP_PREPARED_HOURS">): number =>
  Math.max(0, Number(hours) || 0);

/**
 * Whether agents share the root of this build. They do if other formats of the version exist or are being built, and
 * there are at least two agents. A single agent caches its roots itself.
 */
export async function isRootShared({ env, db }: Services<UsedEnv>, build: Build): Promise<boolean> {
  if (storedHours(env) === 0) return false;
  const [builders, builds] = await Promise.all([
    countBuilders(db, new Date(Date.now() - silentMs), 2),
    listBuildsOfVersion(db, build.applianceId, build.version),
  ]);
  if (builders < 2) return false;
  return builds.some(({ imageType }) => imageType !== build.imageType);
}

/** Stores a root that a build shares. If the appliance was deleted in the meantime, the root is deleted, too. */
export async function keepPreparedRoot(
  db: Database,
  build: Pick<Build, "id" | "applianceId">,
  root: { key: string; blobKey: string; sha256: string; at: Date },
): Promise<void> {
  const { at: createdAt, ...named } = root;
  await savePreparedRoot(db, { ...named, createdAt, applianceId: build.applianceId, buildId: build.id });
}

/** The archive of a root of the same appliance, and its SHA-256. Undefined if there is none, or if it has expired. */
export async function findPrepared(
  { env, db }: Services<UsedEnv>,
  { applianceId }: Pick<Build, "applianceId">,
  key: string,
): Promise<{ blob: R2ObjectBody; sha256: string } | undefined> {
  const root = await findPreparedRoot(db, applianceId, key);
  const blob = root && (await env.BLOBS.get(root.blobKey));
  return blob ? { blob, sha256: root.sha256 } : undefined;
}

/** Removes roots that are older than KEEP_PREPARED_HOURS: the row first, so that no row names a deleted blob. */
export async function expirePreparedRoots({ env, db }: Services, now: number): Promise<void> {
  const keys = await deletePreparedBefore(db, new Date(now - storedHours(env) * hourMs));
  for (let from = 0; from < keys.length; from += 1000) await env.BLOBS.delete(keys.slice(from, from + 1000));
}
