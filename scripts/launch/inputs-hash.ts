import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";

/** One SHA-256 of files and folders: their names and contents, regardless of order and times. */
export function inputsHash(
  root: string,
  paths: readonly string[],
  isInput: (path: string) => boolean = () => true,
): string {
  const hash = createHash("sha256");
  for (const path of paths.flatMap((each) => filesBelow(join(root, each))).toSorted()) {
    const name = relative(root, path);
    if (!isInput(name)) continue;
    const content = readFileSync(path);
    hash.update(`${name}\0${content.length}\0`).update(content);
  }
  return hash.digest("hex");
}

/** The path itself if it is a file, every file below if it is a folder, and nothing if it does not exist. */
export function filesBelow(path: string): string[] {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return [];
  if (!found.isDirectory()) return [path];
  return readdirSync(path).flatMap((name) => filesBelow(join(path, name)));
}
