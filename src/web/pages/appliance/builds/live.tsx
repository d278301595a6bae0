import type { Context } from "hono";
import type { WatchedBuild } from "#domain/builds/build";
import { followProgress, isGoingOn, type BuildNews } from "#domain/builds/log";
import { abandon, bodyOf, endEvent, eventStreamHeaders, eventText, whileAllowed } from "#http/event-stream";
import type { Build } from "#storage/builds";
import { listRunningBuilds } from "#storage/builds-of-appliance";
import type { WebEnv } from "../../../factory.ts";
import { partsOfPage } from "../../../page.tsx";
import { stillSignedIn } from "../../../session.ts";
import { StateNow } from "../head.tsx";
import { BuildTab } from "../tabs.tsx";
import { RunningPart, runningTitle } from "./running.tsx";

/**
 * The elements that the page fetches again when a build has ended. Includes `result`, because "the build has started"
 * is outdated by then, and elements that a build changes in addition to its own row: the next version, and the sizes,
 * which were estimates. With `again-place`, the island `again` follows the checks that start at the end of a build.
 */
const afterwards =
  "running status tab-build build-button appliance-title size new-build-version ended failed finished again-place result";

/**
 * Keeps the page of an appliance's builds up to date while they run. The progress of a build comes with the elements
 * that show it. When one ends, the page fetches what has changed.
 */
export async function liveOf(c: Context<WebEnv>): Promise<Response> {
  const { db, appliance } = c.var;
  const running = await listRunningBuilds(db, appliance.id);
  const followed = new Set(running.map(({ id }) => id));
  const sources = running.map((build) => newsOf(build, followProgress(c.env, db, build)));
  // If another build has started, the browser connects again, and the new stream follows that one, too.
  const isAllowed = async () =>
    (await stillSignedIn(c)) && (await listRunningBuilds(db, appliance.id)).every(({ id }) => followed.has(id));
  const news = whileAllowed(merged(sources), isAllowed);
  return new Response(bodyOf(eventsOf(c, running, news), encoded), { headers: eventStreamHeaders });
}

interface NewsOf {
  build: Build;
  news: BuildNews;
}

async function* newsOf(build: Build, source: AsyncGenerator<BuildNews>): AsyncGenerator<NewsOf> {
  for await (const news of source) yield { build, news };
}

async function* eventsOf(
  c: Context<WebEnv>,
  running: readonly Build[],
  source: AsyncGenerator<NewsOf>,
): AsyncGenerator<string> {
  const unended = new Set(running.map(({ id }) => id));
  const shown = new Map<number, WatchedBuild>();
  for await (const { build, news } of source) {
    if (news.type === "silence") yield ": nothing new\n\n";
    if (news.type === "end") {
      unended.delete(build.id);
      shown.delete(build.id);
      yield eventText("look", afterwards);
    }
    if (news.type !== "progress" || !isGoingOn(news.progress)) continue;
    const { id, applianceId, version, imageType } = build;
    shown.set(id, { id, applianceId, version, imageType, ...news.progress });
    // Until every build has sent its progress, the elements would lack the others.
    if (shown.size === unended.size) yield eventText("parts", await partsOf(c, [...shown.values()]));
  }
  if (unended.size === 0) yield endEvent;
}

/** The elements that show how far builds are. */
async function partsOf(c: Context<WebEnv>, unsorted: readonly WatchedBuild[]): Promise<string> {
  const { appliance } = c.var;
  const running = unsorted.toSorted((one, other) => one.id - other.id);
  const parts = (
    <>
      <RunningPart applianceId={appliance.id} running={running} />
      <StateNow facts={{ running, errors: 0, warnings: 0 }} />
      <BuildTab appliance={appliance} tab="build" running={running} />
    </>
  );
  return await partsOfPage(c, parts, `${runningTitle(running) ?? ""}Build · ${appliance.name}`);
}

const encoded = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The values of several sources, in the order in which they arrive. */
export async function* merged<T>(sources: readonly AsyncGenerator<T>[]): AsyncGenerator<T> {
  const next = async (source: AsyncGenerator<T>) => ({ source, result: await source.next() });
  const waiting = new Map(sources.map((source) => [source, next(source)]));
  try {
    while (waiting.size > 0) {
      const { source, result } = await Promise.race(waiting.values());
      if (result.done) waiting.delete(source);
      else {
        waiting.set(source, next(source));
        yield result.value;
      }
    }
  } finally {
    for (const [source, awaited] of waiting) abandon(source, awaited);
  }
}
