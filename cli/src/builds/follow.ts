import type { AnswerOf, Client } from "../client/client.ts";
import { follow } from "../client/event-stream.ts";
import { throughRestart } from "../client/through-restart.ts";
import type { Exit } from "../complaint.ts";
import { visibleLines } from "../output/table.ts";

/** A queued, running or ended build, as the service shows it. */
export type WatchedBuild = AnswerOf<"getRunningBuild">["running_build"];

/** The data of an event `progress` in a build's log. */
type Progress = Pick<WatchedBuild, "state" | "percent" | "time_elapsed" | "message"> & { time_left?: number };

export const exitOfState: Readonly<Record<WatchedBuild["state"], Exit>> = {
  finished: "done",
  failed: "unbuildable",
  error: "broken",
  cancelled: "cancelled",
  queued: "done",
  running: "done",
};

/** Reports the progress of a build until it has ended. Returns the ended build. */
export async function followBuild(
  client: Client,
  build: WatchedBuild,
  report: (build: WatchedBuild, secondsLeft: number | undefined) => void,
): Promise<WatchedBuild> {
  const id = { build_id: build.id };
  for await (const { event, data } of follow(client, "getBuildLog", id)) {
    if (event === "end") break;
    if (event !== "progress") continue;
    const progress = JSON.parse(data) as Progress;
    report({ ...build, ...progress }, progress.time_left);
  }
  return (await throughRestart(() => client.call("getRunningBuild", id))).running_build;
}

/** The lines with errors in a failed build's log. If there are none, its last lines. */
export async function errorLines(client: Client, id: number): Promise<string[]> {
  const log = await (await client.call("getBuildLog", { build_id: id }, { headers: asText })).text();
  const lines = visibleLines(log)
    .split("\n")
    .filter((line) => line.trim() !== "");
  const errors = lines.filter((line) => !debug.test(line) && namesError.test(line));
  return (errors.length > 0 ? errors : lines).slice(-shownLines);
}

const shownLines = 12;
const namesError = /\b(error|fail(ed|ure)?|fatal|cannot|unable|no space)\b/i;
/** KIWI logs each command that it runs, and `rmdir --ignore-fail-on-non-empty` is not an error. */
const debug = /\[ DEBUG /;
/** Requests text. Error answers are JSON in any case. */
export const asText = { accept: "text/plain, application/json;q=0.5" };
