import { resolve } from "node:path";
import { backUp } from "../backup/backup.ts";
import { restore } from "../backup/restore.ts";
import { Complaint } from "../launch/complaint.ts";
import { print, seconds } from "../launch/progress.ts";
import type { AdminOptions } from "./options.ts";

const commands: Record<string, (state: string, file: string) => Promise<void>> = {
  backup: printBackup,
  restore: printRestored,
};

/**
 * Runs a command that works on a state directory's files, not through the service. Returns false for other commands.
 */
export async function administerFiles(
  [name = "", file, ...more]: readonly string[],
  options: AdminOptions,
  env: NodeJS.ProcessEnv,
): Promise<boolean> {
  const run = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (run === undefined) return false;
  if (file === undefined || more.length > 0) throw new Complaint(`${name} takes one FILE.`);
  if (options.url ?? (options.state === undefined ? env["KILN_URL"] : undefined)) {
    throw new Complaint(`${name} is for a service that npm start runs on --state DIR, not for one at a URL.`);
  }
  await run(resolve(options.state ?? (env["KILN_STATE"] || ".kiln")), resolve(file));
  return true;
}

async function printBackup(state: string, file: string): Promise<void> {
  const { appliances, builds, blobs, stoodStillMs } = await backUp(state, file);
  print(`Wrote ${file}: ${appliances} appliances, ${builds} builds, ${blobs} stored files, and the secrets.`);
  if (stoodStillMs > 0) print(`The service was paused for ${seconds(stoodStillMs)}.`);
}

async function printRestored(state: string, file: string): Promise<void> {
  const { at, appliances, builds } = await restore(file, state);
  print(`Restored ${state} as it was at ${at}: ${appliances} appliances, ${builds} builds.`);
}
