import { access, constants, stat } from "node:fs/promises";
import { join } from "node:path";

/** The file of a program in the directories of a PATH. */
export async function findProgram(program: string, path = process.env["PATH"] ?? ""): Promise<string | undefined> {
  for (const dir of path.split(":").filter((each) => each !== "")) {
    const file = join(dir, program);
    if (await isProgram(file)) return file;
  }
  return undefined;
}

async function isProgram(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK);
    return (await stat(file)).isFile();
  } catch {
    return false;
  }
}
