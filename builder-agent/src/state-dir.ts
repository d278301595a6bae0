import { access, constants, mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { ConfigRefused } from "./config.ts";

/** Makes the state directory. Refuses one on a read-only file system, which most directories are under the unit. */
export async function openStateDir(stateDir: string): Promise<void> {
  if (await isReadOnly(stateDir)) {
    throw new ConfigRefused([
      `stateDir: ${stateDir} is on a file system that is read-only for the agent. The unit kiln-agent.service allows only /var/lib/kiln-agent.`,
      'To allow another directory, make it, run "systemctl edit kiln-agent", and add these two lines:',
      "[Service]",
      `ReadWritePaths=${stateDir}`,
    ]);
  }
  await mkdir(stateDir, { recursive: true, mode: 0o700 });
}

/** Asks before mkdir, which succeeds if the directory exists, and otherwise fails with ENOENT in place of EROFS. */
async function isReadOnly(path: string): Promise<boolean> {
  const code = await access(path, constants.W_OK).catch((error: NodeJS.ErrnoException) => error.code);
  return code === "ENOENT" && path !== "/" ? await isReadOnly(dirname(path)) : code === "EROFS";
}
