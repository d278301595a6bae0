import { constants } from "node:fs";
import { lstat, open } from "node:fs/promises";
import { join } from "node:path";

/** The names of users and groups, from a root's own /etc/passwd and /etc/group. */
export interface Owners {
  users: ReadonlyMap<number, string>;
  groups: ReadonlyMap<number, string>;
}

export async function readOwners(root: string): Promise<Owners> {
  const [users, groups] = await Promise.all(["passwd", "group"].map((file) => textOf(join(root, "etc"), file)));
  return { users: namesOf(users), groups: namesOf(groups) };
}

/** Larger files are ignored. */
export const maxBytes = 4 * 1024 * 1024;

/** Reads lines `name:password:number:…`. The first name of a number counts, as in the C library. */
export function namesOf(text = "", isName = /./): Map<number, string> {
  const names = new Map<number, string>();
  for (const line of text.split("\n")) {
    const [name = "", , number = ""] = line.split(":");
    if (!isName.test(name) || !/^\d+$/.test(number) || names.has(Number(number))) continue;
    names.set(Number(number), name);
  }
  return names;
}

/** The text is empty if the file or its directory is a link, which could lead out of the root. */
async function textOf(dir: string, name: string): Promise<string> {
  const isThere = await lstat(dir).then(
    (stat) => stat.isDirectory(),
    () => false,
  );
  if (!isThere) return "";
  const path = join(dir, name);
  const stat = await lstat(path).catch(() => undefined);
  if (!stat?.isFile() || stat.size > maxBytes) return "";
  await using file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  return await file.readFile("utf8");
}
