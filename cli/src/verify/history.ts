import { sendForFile } from "../client/send.ts";
import { continues, type Checkpoint } from "../image-log.ts";
import type { PinnedKey } from "../login/login.ts";
import { unverified } from "./envelope.ts";
import { keepCheckpoint, keptCheckpoint } from "./kept-checkpoints.ts";
import { forked, signedCheckpoint } from "./logged.ts";

/** The present state of a log, after it was compared with earlier ones. */
export interface CheckedLog {
  now: Checkpoint;
  note: string;
  /** The number of entries that this machine had seen before. */
  kept: number | undefined;
}

/**
 * Compares the log of a service with the checkpoint that this machine has saved, and with others. Fails if the log has
 * lost or changed an entry since. Saves its checkpoint for the next time.
 */
export async function checkLog(
  url: string,
  keys: readonly PinnedKey[],
  others: readonly string[] = [],
): Promise<CheckedLog> {
  // Read before the log is, because another process may save a newer one in the meantime.
  const kept = keptCheckpoint(url);
  const note = new TextDecoder().decode(await fetched(url, "checkpoint"));
  const now = signedCheckpoint(note, keys);
  const earlier = others.map((other) => signedCheckpoint(other, keys));
  for (const one of kept ? [kept, ...earlier] : earlier) await refuseOtherHistory(url, one, now);
  keepCheckpoint(url, note);
  return { now, note, kept: kept?.size };
}

async function refuseOtherHistory(url: string, earlier: Checkpoint, now: Checkpoint): Promise<void> {
  if (earlier.origin !== now.origin)
    throw forked(`The log of ${url} was ${earlier.origin} before, and is ${now.origin} now.`);
  if (earlier.size > now.size)
    throw forked(`The log ${now.origin} has been rewound: it had ${earlier.size} entries, and has ${now.size} now.`);
  if (await continues(earlier, now, (path) => fetched(url, path))) return;
  throw forked(
    `The log ${now.origin} has been forked: its ${now.size} entries do not begin with the ${earlier.size} that it had before.`,
  );
}

/** A file of the log. */
async function fetched(url: string, path: string): Promise<Uint8Array> {
  const answer = await sendForFile(`${url}/log/${path}`);
  if (answer) return new Uint8Array(await answer.arrayBuffer());
  throw unverified(`The public log of ${url} has no ${path}.`, "A log begins when the first version is published.");
}
