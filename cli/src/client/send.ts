import { setTimeout as sleep } from "node:timers/promises";
import { isBusy, unavailable, unreachable } from "./failure.ts";

/** The pauses before a request is repeated, unless the service asks for others. */
const pausesMs = [300, 1_000, 3_000];
/** If the service asks for a longer pause, the command ends and says so. */
const longestPauseMs = 30_000;

/**
 * Sends a request. Repeats it if the connection was lost, or if the service is busy.
 *
 * @throws Complaint if there is no answer
 */
export async function send(url: string, init: RequestInit = {}): Promise<Response> {
  for (const usual of [...pausesMs, undefined]) {
    try {
      const answer = await fetch(url, init);
      const pause = usual !== undefined && mayRepeat(init, answer) ? pauseAfter(answer, usual) : undefined;
      if (!isBusy(answer) || pause === undefined) return answer;
      await answer.body?.cancel();
      await sleep(pause, undefined, init.signal ? { signal: init.signal } : {});
    } catch (error) {
      if (init.signal?.aborted || usual === undefined || !mayRepeat(init) || !wasCut(error))
        throw unreachable(new URL(url).origin, error);
      await sleep(usual);
    }
  }
  throw unreachable(new URL(url).origin, undefined);
}

/** A public file. Undefined if it does not exist, which no other failure means. */
export async function sendForFile(url: string): Promise<Response | undefined> {
  const answer = await send(url);
  if (answer.ok) return answer;
  if (answer.status === 404 || answer.status === 410) return undefined;
  throw unavailable(url, answer.status);
}

/** The pause that a busy service asks for, or else the usual one. Undefined if it asks for too long a pause. */
export function pauseAfter({ headers }: Response, usualMs: number): number | undefined {
  const asked = headers.get("retry-after");
  if (asked === null) return usualMs;
  const ms = /^\d+$/.test(asked) ? Number(asked) * 1_000 : Date.parse(asked) - Date.now();
  if (Number.isNaN(ms)) return usualMs;
  return ms > longestPauseMs ? undefined : Math.max(0, ms);
}

/**
 * The status 429 means that nothing was done. Otherwise, a repeated DELETE could report an unknown id, and before a
 * PATCH is repeated, the service must report the current offset. A POST has an idempotency key, so that it acts only
 * once.
 */
const mayRepeat = ({ method }: RequestInit, answer?: Response): boolean =>
  answer?.status === 429 || (method !== "DELETE" && method !== "PATCH");

/**
 * Whether the connection was lost. A refused connection does not count, because it means that no service runs there.
 */
function wasCut(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && "code" in cause && cutCodes.has(String(cause.code));
}

const cutCodes = new Set(["ECONNRESET", "EPIPE", "UND_ERR_SOCKET"]);
