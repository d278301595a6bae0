import { rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { readIfThere, writePrivateFile } from "./private-file.ts";

/** What a program needs to talk to the service that runs on a state directory; there only while it runs. */
export const Ready = z.object({
  url: z.string(),
  username: z.string(),
  api_key: z.string(),
  /** null: no agent was started. */
  agent_pid: z.int().positive().nullable(),
});
export type Ready = z.infer<typeof Ready>;

const readyFile = (stateDirectory: string) => join(stateDirectory, "ready.json");

export function writeReady(stateDirectory: string, ready: Ready): void {
  writePrivateFile(readyFile(stateDirectory), `${JSON.stringify(ready, null, 2)}\n`);
}

export function removeReady(stateDirectory: string): void {
  rmSync(readyFile(stateDirectory), { force: true });
}

/** undefined: no service is ready there. */
export function readReady(stateDirectory: string): Ready | undefined {
  const text = readIfThere(readyFile(stateDirectory));
  return text === undefined ? undefined : Ready.parse(JSON.parse(text));
}
