import type { Context } from "hono";
import { followBuild, type BuildNews } from "#domain/builds/log";
import { bodyOf, eventStreamHeaders } from "#http/event-stream";
import { listRunningBuilds } from "#storage/builds";
import type { WebEnv } from "../../../factory.ts";
import { stillSignedIn } from "../../../session.ts";

const whileRunning = "running status tab-build build-button";
/**
 * Includes `result`, because "the build has started" is out of date by then, and what a build changes beside its own
 * row: the version that comes next, and the sizes, which were an estimate.
 */
const afterwards = `${whileRunning} appliance-title size new-build-version ended failed finished result`;

/** Reports to a page which of its parts have changed, while builds of its appliance run. */
export async function liveOf(c: Context<WebEnv>): Promise<Response> {
  const { db, account, appliance } = c.var;
  const running = await listRunningBuilds(db, account.id, appliance.id);
  const sources = running.map((build) => followBuild(c.env, db, build, undefined));
  const news = partsOf(merged(sources), () => stillSignedIn(c));
  return new Response(bodyOf(news, encoded), { headers: eventStreamHeaders });
}

async function* partsOf(news: AsyncGenerator<BuildNews>, isAllowed: () => Promise<boolean>): AsyncGenerator<string> {
  for await (const { type } of news) {
    if (type === "log") continue;
    if (!(await isAllowed())) return;
    if (type === "silence") yield ": nothing new\n\n";
    else yield `event: look\ndata: ${type === "end" ? afterwards : whileRunning}\n\n`;
  }
  yield "event: end\ndata:\n\n";
}

const encoded = (text: string): Uint8Array => new TextEncoder().encode(text);

/** The values of several sources, in the order in which they arrive. */
async function* merged<T>(sources: readonly AsyncGenerator<T>[]): AsyncGenerator<T> {
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
    for (const source of waiting.keys()) void source.return(undefined);
  }
}
