import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { join } from "node:path";

export const doctorDir = (stateDir: string) => join(stateDir, "doctor");

/** A directory for one check, on the disk that builds will use; gone after it. */
export async function scratchDir(stateDir: string): Promise<{ path: string } & AsyncDisposable> {
  await mkdir(doctorDir(stateDir), { recursive: true, mode: 0o700 });
  const path = await mkdtemp(join(doctorDir(stateDir), "check-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}
