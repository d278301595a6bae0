import { access, constants, stat } from "node:fs/promises";
import { join } from "node:path";
import { outputOf } from "./process.ts";

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
  const said = outputOf(program, ["--version"], AbortSignal.timeout(5_000));
  asked.set(program, { file, said });
  return await said.catch((error: unknown) => {
    if (asked.get(program)?.said === said) asked.delete(program);
    throw error;
  });
}

/** The file that runs under a program's name now. Packages keep times of their own, so a new inode or status time tells too. */
async function fileOf(program: string): Promise<string> {
  for (const directory of (process.env.PATH ?? "").split(":")) {
    const path = join(directory, program);
    const facts = await stat(path, { bigint: true }).catch(() => undefined);
    if (facts?.isFile() && (await isExecutable(path)))
      return [path, facts.dev, facts.ino, facts.size, facts.mtimeNs, facts.ctimeNs].join(" ");
  }
  throw new Error(`${program} is not installed`);
}

const isExecutable = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
