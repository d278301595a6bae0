import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";

const doctorDir = (stateDir: string) => join(stateDir, "doctor");

/** A temporary directory for one check, on the disk that builds will use. */
export async function scratchDir(stateDir: string): Promise<{ path: string } & AsyncDisposable> {
  await mkdir(doctorDir(stateDir), { recursive: true, mode: 0o700 });
  const path = await mkdtemp(join(doctorDir(stateDir), "check-"));
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

/** Stores the result of a slow check, so that it is not repeated at each start of the agent. */
export interface VerdictStore<T> {
  /** Undefined if there is no result, or if it is for another key. */
  find(key: string): Promise<T | undefined>;
  store(key: string, verdict: T): Promise<void>;
}

/** @param name the name of the check and of its file */
export function verdictStore<T>(stateDir: string, name: string, schema: z.ZodType<T>): VerdictStore<T> {
  const file = join(doctorDir(stateDir), `${name}.json`);
  const Stored = z.object({ key: z.string(), verdict: schema });
  return {
    async find(key) {
      try {
        const stored = Stored.parse(JSON.parse(await readFile(file, "utf8")));
        return stored.key === key ? stored.verdict : undefined;
      } catch {
        return undefined; // the check never ran, or another version wrote the file
      }
    },
    async store(key, verdict) {
      await mkdir(doctorDir(stateDir), { recursive: true, mode: 0o700 });
      await writeFile(`${file}.new`, JSON.stringify({ key, verdict }));
      await rename(`${file}.new`, file);
    },
  };
}
