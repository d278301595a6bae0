import { createWriteStream, rmSync, statSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { pipeline } from "node:stream/promises";
import { Complaint } from "../complaint.ts";
import { isBusy, unavailable, unreachable } from "../client/failure.ts";
import { pauseAfter } from "../client/send.ts";

/** Reports how many bytes of a file have arrived. The state is `waiting` after the connection was lost. */
export type ProgressReporter = (arrived: number, whole: number, state: "arriving" | "waiting") => void;

/** A connection without data for this long is closed. */
const idleMs = 30_000;
/**
 * Pauses between attempts, together long enough for a restart of the service. The list starts again when bytes arrive.
 */
const pausesMs = [500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000, 15_000];

/**
 * Downloads a file to `part`, and continues an existing part. Repeats interrupted downloads. A part that is longer than
 * the file is deleted.
 */
export async function downloadTo(part: string, url: string, report: ProgressReporter): Promise<void> {
  let failures = 0;
  let known = Number.NaN;
  for (;;) {
    const before = sizeOf(part);
    const ended = await attempt(part, url, (arrived, whole) => {
      known = whole;
      report(arrived, whole, "arriving");
    });
    if (ended === "whole") return;
    if (known > 0) report(sizeOf(part), known, "waiting");
    failures = sizeOf(part) > before ? 0 : failures + 1;
    const usual = pausesMs[failures];
    const pause = usual !== undefined && ended instanceof Response ? pauseAfter(ended, usual) : usual;
    if (pause !== undefined) await sleep(pause);
    else throw ended instanceof Response ? unavailable(url, ended.status) : unreachable(new URL(url).origin, ended);
  }
}

type Arrived = (arrived: number, whole: number) => void;

/** Returns "whole", or the reason for the interruption: an error, or the answer of a busy service. */
async function attempt(part: string, url: string, report: Arrived): Promise<unknown> {
  const idle = new AbortController();
  const clock = setTimeout(() => idle.abort(new Error("nothing arrived for 30 s")), idleMs);
  const from = sizeOf(part);
  try {
    const headers: Record<string, string> = from > 0 ? { range: `bytes=${from}-` } : {};
    const answer = await fetch(url, { headers, signal: idle.signal });
    if (answer.status === 416 && from > 0) {
      if (wholeOf(answer) === from) return "whole";
      rmSync(part, { force: true });
      return new Error("the part is longer than the file");
    }
    if (isBusy(answer)) {
      await answer.body?.cancel();
      return answer;
    }
    if (!answer.ok || !answer.body) throw refusal(answer.status);
    const start = answer.status === 206 ? from : 0;
    await append(part, { body: answer.body, start, whole: wholeOf(answer) }, (arrived, whole) => {
      clock.refresh();
      report(arrived, whole);
    });
    return sizeOf(part) >= wholeOf(answer) ? "whole" : new Error("the connection broke off");
  } catch (error) {
    if (error instanceof Complaint) throw error;
    return error;
  } finally {
    clearTimeout(clock);
  }
}

interface Arriving {
  body: ReadableStream<Uint8Array>;
  /** The offset of the bytes in the file. */
  start: number;
  whole: number;
}

async function append(part: string, { body, start, whole }: Arriving, report: Arrived): Promise<void> {
  let arrived = start;
  const counted = async function* () {
    for await (const chunk of body) {
      yield chunk;
      arrived += chunk.length;
      report(arrived, whole);
    }
  };
  try {
    await pipeline(counted, createWriteStream(part, { flags: start > 0 ? "a" : "w", mode: 0o644 }));
  } catch (error) {
    if (!isOfFile(error)) throw error;
    throw new Complaint("refused", `${part} cannot be written: ${error.message}.`, "Check the free space on the disk.");
  }
}

/** Whether the file failed, and not the connection. Then a repeat would not help. */
const isOfFile = (error: unknown): error is Error =>
  error instanceof Error && "syscall" in error && (error.syscall === "open" || error.syscall === "write");

/** The length of the whole file, even if the answer is a part of it. */
export function wholeOf({ headers }: Response): number {
  const inRange = /\/(\d+)$/.exec(headers.get("content-range") ?? "")?.[1];
  return Number(inRange ?? headers.get("content-length") ?? Number.NaN);
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

function refusal(status: number): Complaint {
  const gone = status === 410 || status === 403 || status === 404;
  return new Complaint(
    "refused",
    gone ? "The image no longer exists." : `The download was refused with status ${status}.`,
    "`kiln builds APPLIANCE` lists the images that exist. Build it again if you need it.",
  );
}
