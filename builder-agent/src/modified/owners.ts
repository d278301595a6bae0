import { bytesOf, type FileSystem } from "./file-system.ts";

/** The names of users or groups by their numbers. */
type Names = ReadonlyMap<number, string>;

export interface Owners {
  users: Names;
  groups: Names;
}

const maxBytes = 1024 * 1024;
/** A valid name for the owner of an overlay file. */
const isName = /^[a-z_][a-z0-9_.-]{0,30}[$a-z0-9_.-]?$/i;

/** Reads the file system's own /etc/passwd and /etc/group. An unusable file gives no names. */
export async function ownersOf(files: FileSystem): Promise<Owners> {
  return { users: await namesIn(files, "/etc/passwd"), groups: await namesIn(files, "/etc/group") };
}

async function namesIn(files: FileSystem, path: string): Promise<Names> {
  const inode = await files.at(path);
  if (inode?.type !== "f" || inode.size > maxBytes) return new Map();
  const lines = (await bytesOf(files.content(inode))).toString("latin1").split("\n");
  const entries = lines.flatMap((line): [number, string][] => {
    const [name = "", , number = ""] = line.split(":");
    return isName.test(name) && /^\d{1,10}$/.test(number) ? [[Number(number), name]] : [];
  });
  return new Map(entries.toReversed()); // the first name of a number counts
}
