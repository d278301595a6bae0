import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { onTestFinished, vi } from "vitest";

/** Replaces a program of this host by a shell script until the test ends. */
export async function standIn(dir: string, program: string, script: string): Promise<void> {
  const programs = join(dir, "programs");
  await mkdir(programs);
  await writeFile(join(programs, program), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  vi.stubEnv("PATH", `${programs}:${process.env["PATH"]}`);
  onTestFinished(() => void vi.unstubAllEnvs());
}
