import { stat } from "node:fs/promises";
import { outputOf } from "./process.ts";
import { findProgram } from "./program-path.ts";

interface Asked {
  /** Names the program's file as it was then. */
  file: string;
  said: Promise<string>;
}

const asked = new Map<string, Asked>();

/** What `program --version` says. Asked once, and again when another file has the name: the host was updated. */
export async function versionOf(program: string): Promise<string> {
  // Looked at before it is asked: an update in between is seen the next time.
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

/** The file that runs under a program's name now. Packages keep times of their own, so a new inode or status time tells too. */
async function fileOf(program: string): Promise<string> {
  const path = await findProgram(program);
  if (path === undefined) throw new Error(`${program} is not installed`);
  const { dev, ino, size, mtimeNs, ctimeNs } = await stat(path, { bigint: true });
  return [path, dev, ino, size, mtimeNs, ctimeNs].join(" ");
}
