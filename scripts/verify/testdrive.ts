import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { WebSocket } from "ws";
import { serialLogName } from "../../builder-agent/src/testdrive/qemu.ts";
import { agentStateOf } from "../launch/isolation.ts";
import { Complaint } from "../launch/complaint.ts";

export const loginPrompt = /login: ?$/m;

/** Longer than any boot, because processors may be emulated, and an installation medium boots twice. */
export const bootSeconds = 1_800;
const lookEveryMs = 500;

/**
 * Watches a testdrive until its console asks for a login, and ends it. Without a viewer it would end after a minute.
 */
export async function watchTestdrive(
  { id, url }: { id: number; url: string },
  { state, signal }: { state: string; signal: AbortSignal },
): Promise<void> {
  const viewer = new WebSocket(`${url.replace(/^http/, "ws")}/socket`);
  let gone: string | undefined;
  viewer.on("error", (error) => (gone ??= error.message));
  viewer.on("close", (_code, reason) => (gone ??= reason.toString() || "its connection was closed"));
  const log = join(agentStateOf(state), "testdrives", String(id), serialLogName);
  const until = Date.now() + bootSeconds * 1000;
  try {
    while (!loginPrompt.test(existsSync(log) ? readFileSync(log, "latin1").replaceAll("\r", "") : "")) {
      if (gone !== undefined) throw new Complaint(`The testdrive ended before its login prompt: ${gone}`);
      if (Date.now() > until)
        throw new Complaint(`There is no login prompt on the serial line after ${bootSeconds} s.`);
      await sleep(lookEveryMs, undefined, { signal });
    }
  } finally {
    viewer.terminate();
    await fetch(`${url}/stop`, { method: "POST" }).catch(() => {});
  }
}
