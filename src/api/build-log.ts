import type { HonoRequest } from "hono";
import { getRunningBuild, stillReads } from "#domain/builds/build";
import { followBuild, openLog, type BuildNews } from "#domain/builds/log";
import { bodyOf, endEvent, eventStreamHeaders, eventText, whileAllowed } from "#http/event-stream";
import type { Database } from "#storage/db";

interface LogReader {
  account: { id: number };
  /** Whether the token or session of the request is still valid. */
  stillOpens: () => Promise<boolean>;
  buildId: number;
  /** Where events begin, in bytes. By default, with the last lines. */
  from?: number | undefined;
}

/** The log of a build while it is written: as text, or as server-sent events for a client that follows it. */
export async function readLog(
  { env, db }: { env: Env; db: Database },
  { account, stillOpens, buildId, from }: LogReader,
  request: HonoRequest,
): Promise<Response> {
  const build = await getRunningBuild(db, account.id, buildId);
  if (wantsEvents(request.header("accept"))) {
    const news = followBuild(env, db, build, offsetOf(request.header("last-event-id")) ?? from);
    const isAllowed = async () => (await stillOpens()) && (await stillReads(db, account.id, build));
    const shown = whileAllowed(news, isAllowed);
    return new Response(bodyOf(shown, encoded), { headers: eventStreamHeaders });
  }
  const { length, pages } = await openLog(env, build);
  const headers = { "content-type": "text/plain; charset=utf-8", "content-length": String(length), ...notStored };
  if (length === 0) return new Response("", { headers });
  return new Response(bodyOf(pages, (bytes) => bytes).pipeThrough(new FixedLengthStream(length)), { headers });
}

const notStored = { "cache-control": "no-store" };

const wantsEvents = (accept: string | undefined) => /\btext\/event-stream\b/i.test(accept ?? "");

const offsetOf = (lastEventId: string | undefined): number | undefined =>
  lastEventId !== undefined && /^\d{1,15}$/.test(lastEventId) ? Number(lastEventId) : undefined;

const encoded = (news: BuildNews): Uint8Array => new TextEncoder().encode(eventOf(news));

function eventOf(news: BuildNews): string {
  switch (news.type) {
    case "log":
      return eventText("log", news.text.replace(/\r?\n$/, ""), news.offset);
    case "progress": {
      const { state, percent, secondsElapsed, secondsLeft, message, queuePosition } = news.progress;
      const times = { time_elapsed: secondsElapsed, time_left: secondsLeft };
      const shown = { state, percent, ...times, message, queue_position: queuePosition };
      return eventText("progress", JSON.stringify(shown));
    }
    case "silence":
      return ": nothing new\n\n";
    case "end":
      return endEvent;
    default:
      return news satisfies never;
  }
}
