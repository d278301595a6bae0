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

/** Reads the scripts next to a description, and everything below `root/`. */
export function readFolder(folder: string): Folder {
  const found: Folder & { files: Map<string, { content: Uint8Array; mode: number }> } = {
    files: new Map(),
    skipped: [],
  };
  for (const name of namesIn(folder))
    if (name.endsWith(".sh")) readInto(found, folder, name);
    else if (/^root\.tar(\.|$)/.test(name))
      found.skipped.push({ what: name, why: "unpack it into the folder root/ next to the description" });
  readTree(found, folder, "root");
  return found;
}

type Found = Folder & { files: Map<string, { content: Uint8Array; mode: number }> };

function readTree(found: Found, folder: string, path: string): void {
  for (const name of namesIn(join(folder, path))) {
    const one = `${path}/${name}`;
    const kind = lstatSync(join(folder, one));
    if (kind.isDirectory()) readTree(found, folder, one);
    else if (kind.isFile()) readInto(found, folder, one);
    else found.skipped.push({ what: one, why: "an appliance has only files: make links in the build script" });
  }
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
