import { inWindow, openingAt, windowOf } from "#domain/automatic-builds/window";
import type { Appliance } from "#storage/appliances";
import type { Watch } from "#storage/watches";

const hourMs = 60 * 60_000;
const dayMs = 24 * hourMs;

/** The facts that decide when the next automatic build of an appliance may begin. */
export interface Next {
  appliance: Pick<Appliance, "configuration" | "lastEditedAt">;
  watch: Pick<Watch, "automaticState" | "automaticAt" | "automaticContents" | "automaticEditedAt" | "automaticFrom">;
  /** The newest version that has an image. */
  newestVersion: string;
  /** The digest of the contents of the appliance's repositories. */
  contents: string;
}

/**
 * The earliest time, from now on, when the next automatic build may begin. It is computed again at each check, so it
 * stays correct if a check comes late or never, or the window is changed.
 */
export function nextBegin(next: Next, now: number): number {
  const window = windowOf(next.appliance);
  const begun = next.watch.automaticAt?.getTime() ?? 0;
  // If a build began late in a window, the next one may begin as soon as the window opens again.
  const late = window ? Math.max(0, begun - openingAt(window, begun)) : 0;
  return inWindow(window, Math.max(now, begun + waitOf(next, Math.min(late, dayMs / 2))));
}

/**
 * How long after an automatic build the next one may begin: a day, minus the time by which this one was late. A failed
 * or refused one is retried when something has changed that may help, and otherwise after a day, too.
 */
function waitOf({ appliance, watch, newestVersion, contents }: Next, late: number): number {
  const { automaticState: state, automaticContents, automaticEditedAt, automaticFrom } = watch;
  if (state === null) return 0;
  const hasChanged =
    contents !== automaticContents ||
    newestVersion !== automaticFrom ||
    appliance.lastEditedAt.getTime() !== automaticEditedAt?.getTime();
  if (state === "done" || !hasChanged) return dayMs - late;
  return state === "refused" ? 0 : hourMs;
}
