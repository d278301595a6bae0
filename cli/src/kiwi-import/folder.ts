import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Complaint } from "../complaint.ts";
import type { NextTo } from "../kiwi.ts";

/** More than an appliance can have. */
const mostFiles = 10_000;
const mostBytes = 2 ** 30;

/** What lies next to a description, and what of it is no file. */
export interface Folder extends NextTo {
  skipped: { what: string; why: string }[];
}

/** Reads the scripts next to a description, and everything below `root/`. Links lead elsewhere, so they are not followed. */
export function readFolder(folder: string): Folder {
  const found: Found = { files: new Map(), skipped: [] };
  const scripts = namesIn(folder).filter((name) => name.endsWith(".sh"));
  for (const path of [...scripts, "root"]) readTree(found, folder, path);
  for (const name of namesIn(folder))
    if (/^root\.tar(\.|$)/.test(name))
      found.skipped.push({ what: name, why: "unpack it into the folder root/ next to the description" });
  return found;
}

type Found = Folder & { files: Map<string, { content: Uint8Array; mode: number }> };

function readTree(found: Found, folder: string, path: string): void {
  const kind = lstatSync(join(folder, path), { throwIfNoEntry: false });
  if (kind?.isDirectory()) for (const name of namesIn(join(folder, path))) readTree(found, folder, `${path}/${name}`);
  else if (kind?.isFile()) readInto(found, folder, path);
  else if (kind) found.skipped.push({ what: path, why: "an appliance has only files: make links in the build script" });
}

function readInto({ files }: Found, folder: string, path: string): void {
  const { mode, size } = lstatSync(join(folder, path));
  const known = [...files.values()].reduce((sum, { content }) => sum + content.byteLength, 0);
  if (files.size >= mostFiles || known + size > mostBytes)
    throw new Complaint(
      "refused",
      "There is more next to the description than an appliance can have.",
      "Import it without the folder root/.",
    );
  files.set(path, { content: readFileSync(join(folder, path)), mode: mode & 0o7777 });
}

/** In the order of their letters, so that an import always gives the same file. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder).toSorted();
  } catch {
    return [];
  }
}
