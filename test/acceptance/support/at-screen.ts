import { setTimeout as sleep } from "node:timers/promises";
import type { Viewer } from "./rfb.ts";

const firstPauseMs = 1_000;
const longestPauseMs = 32_000;

/**
 * Logs in as root at a screen's prompt, as a user does, and types the command into a shell. The command may run more
 * than once. A login program discards input before its prompt, and on a busy host the prompt is late. So each try waits
 * longer between its lines.
 */
export async function typeAsRoot(
  viewer: Pick<Viewer, "type">,
  command: string,
  hasWorked: () => boolean | Promise<boolean>,
): Promise<void> {
  for (let pauseMs = firstPauseMs; pauseMs <= longestPauseMs; pauseMs *= 2) {
    for (const line of ["root", "linux", command]) {
      await viewer.type(`${line}\n`);
      await sleep(pauseMs);
    }
    if (await hasWorked()) return;
  }
  throw new Error(`typed without effect: ${command}`);
}
