import { rmSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { readIfThere, writePrivateFile } from "./private-file.ts";

/** The facts that a program needs to call a state directory's service. The file exists only while the service runs. */
export const Ready = z.object({
  url: z.string(),
  username: z.string(),
  /** Empty if the service cannot decrypt it. */
  api_key: z.string(),
  /** Null if no agent was started. */
  agent_pid: z.int().positive().nullable(),
});
export type Ready = z.infer<typeof Ready>;

/** The file's path. Only its owner may read it. */
export const readyFile = (stateDirectory: string) => join(stateDirectory, "ready.json");

export function writeReady(stateDirectory: string, ready: Ready): void {
  writePrivateFile(readyFile(stateDirectory), `${JSON.stringify(ready, null, 2)}\n`);
}

export function removeReady(stateDirectory: string): void {
  rmSync(readyFile(stateDirectory), { force: true });
}

/** Undefined if no service is ready. */
export function readReady(stateDirectory: string): Ready | undefined {
  const text = readIfThere(readyFile(stateDirectory));
  return text === undefined ? undefined : Ready.parse(JSON.parse(text));
}
