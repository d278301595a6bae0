import type { Services } from "#domain/services";
import { decide, packagesIn } from "#domain/automatic-builds/decide";
import { advanceBuild } from "#domain/automatic-builds/advance";
import { nextBegin } from "#domain/automatic-builds/next";
import { inWindow, windowOf } from "#domain/automatic-builds/window";
import { refreshFollowed } from "#domain/repositories/refresh";
import { configurationOf } from "#lib/configuration/stored";
import { bringsSecurityUpdates } from "#model/catalogue";
import type { Appliance } from "#storage/appliances";
import type { Build } from "#storage/builds";
import type { Repository } from "#storage/repositories";
import { beginAutomaticBuild, endAutomaticBuild, refuseAutomaticBuild, type Watch } from "#storage/watches";

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
/** How often Kiln checks an appliance that follows updates. */
const followedEveryMs = 5 * minuteMs;
/** An automatic build that has not ended after this time counts as failed. */
const longestMs = 2 * dayMs;

/** An appliance that the sweep is checking, after its images were compared. */
export interface Looked {
  appliance: Appliance;
  watch: Watch;
  /** The images of the newest version. */
  newest: readonly Build[];
  repositories: readonly Repository[];
  /** The digest of the contents of these repositories. */
  contents: string;
}

/**
 * Begins an automatic build of an outdated appliance that follows updates, or continues it. Returns when to check
 * again. Every step may be repeated, and two simultaneous runs begin only one automatic build.
 */
export async function buildOutdated(services: Services, looked: Looked, now: number): Promise<number> {
  const { appliance, watch } = looked;
  if (watch.automaticState === "building") return await advance(services, { appliance, watch }, now);
  const { automaticBuilds: follows } = configurationOf(appliance).settings;
  if (follows === "never") return now + dayMs;
  const followed = looked.repositories.filter((one) => follows === "all" || bringsSecurityUpdates(one));
  const isAsked = await refreshFollowed(services, followed, now);
  const [image] = looked.newest;
  if (!image) return now + followedEveryMs;
  const from = nextBegin({ ...looked, newestVersion: image.version }, now);
  const begun = from > now ? undefined : await begin(services, looked, now);
  if (begun) return await advance(services, { appliance, watch: begun }, now);
  // Most imports of a mirror finish within a minute.
  const next = nextLook(appliance, { from, now });
  return isAsked && from <= now ? Math.min(next, now + minuteMs) : next;
}

/**
 * When Kiln checks again: also when a window opens, so that it misses no window that is shorter than the time between
 * two checks.
 */
function nextLook(appliance: Appliance, { from, now }: { from: number; now: number }): number {
  const soon = now + followedEveryMs;
  const next = inWindow(windowOf(appliance), from > now ? Math.min(from, soon) : soon);
  return Math.min(next, now + dayMs);
}

async function advance(
  services: Services,
  { appliance, watch }: Pick<Looked, "appliance" | "watch">,
  now: number,
): Promise<number> {
  const since = now - (watch.automaticAt?.getTime() ?? 0);
  const ended =
    (await advanceBuild(services, appliance, watch)) ??
    (since > longestMs ? { state: "failed" as const, message: "It had not ended after two days." } : undefined);
  if (!ended) return now + minuteMs;
  await endAutomaticBuild(services.db, watch, ended);
  return now + followedEveryMs;
}

/**
 * Begins an automatic build, and returns the watch with it. Undefined if none is needed, or if another run has begun
 * it.
 */
async function begin(services: Services, looked: Looked, now: number): Promise<Watch | undefined> {
  const { appliance, watch, newest, contents } = looked;
  const decision = await decide(services, appliance, newest);
  const from = newest[0]?.version;
  if (!decision || from === undefined) return undefined;
  const about = { at: new Date(now), from, contents, editedAt: appliance.lastEditedAt };
  if ("why" in decision) {
    await refuseAutomaticBuild(services.db, watch, { ...about, message: decision.why });
    return undefined;
  }
  // The appliance's own format first, because other formats wait until a version has an image.
  const types = newest.map(({ imageType }) => imageType);
  const inOrder = types.toSorted((one, other) => isOwn(appliance, other) - isOwn(appliance, one));
  return await beginAutomaticBuild(services.db, watch, {
    ...about,
    version: appliance.version,
    builds: inOrder.map((imageType) => ({ imageType, uid: crypto.randomUUID() })),
    publication: crypto.randomUUID(),
    message: `Built again with ${packagesIn(decision.brings)}.`,
  });
}

const isOwn = (appliance: Appliance, imageType: Build["imageType"]): number =>
  Number(appliance.imageType === imageType);
