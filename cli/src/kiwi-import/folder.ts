import { lstatSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { Complaint } from "../complaint.ts";
import { namesIn } from "../files.ts";
import type { NextTo } from "../kiwi.ts";

/** Limits that are higher than those of an appliance. */
const maxFiles = 10_000;
const maxBytes = 2 ** 30;

/** The files next to a description, and what was skipped. */
export interface Folder extends NextTo {
  skipped: { what: string; why: string }[];
}

/**
 * Reads the scripts next to a description, and everything below `root/`. Does not follow links, which lead elsewhere.
 * KIWI would also copy the folders of the chosen profiles.
 */
export function readFolder(folder: string, profiles: readonly string[]): Folder {
  const found: Found = { files: new Map(), skipped: [] };
  const names = namesIn(folder);
  for (const path of [...names.filter((name) => name.endsWith(".sh")), "root"]) readTree(found, folder, path);
  for (const name of names)
    if (/^root\.tar(\.|$)/.test(name))
      found.skipped.push({ what: name, why: "unpack it into the folder root/ next to the description" });
    else if (/^config-cdroot\.tar(\.|$)/.test(name))
      found.skipped.push({ what: name, why: "an appliance has no files outside the root of its image" });
    else if (profiles.includes(name))
      found.skipped.push({ what: `${name}/`, why: "files of a profile: copy them into the folder root/" });
  return found;
}

/** Reads files of the folder that a description includes. Does not follow links out of the folder. */
export const readBelow =
  (folder: string) =>
  (path: string): string | undefined => {
    try {
      const file = realpathSync(join(folder, path));
      return file.startsWith(join(realpathSync(folder), "/")) ? readFileSync(file, "utf8") : undefined;
    } catch {
      return undefined; // there is no such file
    }
  };

type Found = Folder & { files: Map<string, { content: Uint8Array; mode: number }> };

function readTree(found: Found, folder: string, path: string): void {
  const kind = lstatSync(join(folder, path), { throwIfNoEntry: false });
  const names = kind?.isDirectory() ? namesIn(join(folder, path)) : [];
  for (const name of names) readTree(found, folder, `${path}/${name}`);
  if (kind?.isDirectory() && names.length === 0)
    found.skipped.push({ what: `${path}/`, why: "an appliance has only files: make folders in the build script" });
  if (kind?.isFile()) readInto(found, folder, path);
  else if (kind && !kind.isDirectory())
    found.skipped.push({ what: path, why: "an appliance has only files: make links in the build script" });
}

function readInto({ files }: Found, folder: string, path: string): void {
  const { mode, size } = lstatSync(join(folder, path));
  const known = [...files.values()].reduce((sum, { content }) => sum + content.byteLength, 0);
  if (files.size >= maxFiles || known + size > maxBytes)
    throw new Complaint(
      "refused",
      "The folder of the description has more or larger files than an appliance can have.",
      "Import it without the folder root/.",
    );
  files.set(path, { content: readFileSync(join(folder, path)), mode: mode & 0o7777 });
}
