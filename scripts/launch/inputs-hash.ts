import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";

/** One SHA-256 over files and folders: their names and what is in them, whatever their order or times. */
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

/** The path itself when it is a file; every file below when it is a folder; nothing when it is not there. */
export function filesBelow(path: string): string[] {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined) return [];
  if (!found.isDirectory()) return [path];
  return readdirSync(path).flatMap((name) => filesBelow(join(path, name)));
}
