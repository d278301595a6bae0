import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** The disk space of the files below a folder, in MB. Files that disappear in the meantime do not count. */
export async function diskUseMb(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  let bytes = 0;
  for (const file of files)
    bytes += await stat(file).then(
      ({ blocks }) => blocks * 512,
      () => 0,
    );
  return Math.round(bytes / 1e6);
}
