import { constants } from "node:fs";
import { stat } from "node:fs/promises";
import { join } from "node:path";
import { isAccessible } from "./files.ts";
import { outputOf } from "./process.ts";

/** The file of a program in the directories of a PATH. */
export async function findProgram(program: string, path = process.env["PATH"] ?? ""): Promise<string | undefined> {
  for (const dir of path.split(":").filter((each) => each !== "")) {
    const file = join(dir, program);
    if ((await isAccessible(file, constants.X_OK)) && (await stat(file)).isFile()) return file;
  }
  return undefined;
}

interface Asked {
  /** Identifies the program's file at that time. */
  file: string;
  said: Promise<string>;
}

const asked = new Map<string, Asked>();

/** The output of `program --version`. The program runs again only if an update of the host has replaced its file. */
export async function versionOf(program: string): Promise<string> {
  // Read before the program runs, so that an update in between is noticed the next time.
  const file = await fileOf(program);
  const known = asked.get(program);
  if (known?.file === file) return await known.said;
  const said = outputOf(program, ["--version"], AbortSignal.timeout(30_000));
  asked.set(program, { file, said });
  return await said.catch((error: unknown) => {
    if (asked.get(program)?.said === said) asked.delete(program);
    throw error;
  });
}

/** Packages set their own modification times, so the inode and the time of the last status change count too. */
async function fileOf(program: string): Promise<string> {
  const path = await findProgram(program);
  if (path === undefined) throw new Error(`${program} is not installed`);
  const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
  return [path, dev, ino, size, mtimeNs, ctimeNs].join(" ");
}
