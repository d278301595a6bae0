import { maxDifferenceBytes, maxTextBytes, type ModifiedFile } from "../contract.ts";
import { namesOf, type Owners } from "../run/root-owners.ts";
import { textOf, type Change, type Comparison, type Sides } from "./compare.ts";
import type { Inode } from "./ext4-inode.ts";
import { bytesOf, type FileSystem } from "./file-system.ts";
import { unifiedDifference } from "./text-difference.ts";

/** The changes in the form for the Worker. */
export async function listed(
  sides: Sides,
  { changes }: Comparison,
  { withDifferences, signal }: { withDifferences: boolean; signal: AbortSignal },
): Promise<ModifiedFile[]> {
  const owners = { before: await ownersOf(sides.before), after: await ownersOf(sides.after) };
  let roomBytes = withDifferences ? maxDifferenceBytes : 0;
  const files: ModifiedFile[] = [];
  for (const change of changes) {
    signal.throwIfAborted();
    const shown = await shownOf(change, sides, owners);
    const difference = roomBytes > 0 ? await differenceOf(change, sides) : undefined;
    const bytes = Buffer.byteLength(difference ?? "");
    if (difference === undefined || bytes > roomBytes) files.push(shown);
    else files.push({ ...shown, difference });
    roomBytes -= bytes;
  }
  return files;
}

async function shownOf(
  { change, path, before, after, content }: Change,
  sides: Sides,
  owners: Record<"before" | "after", Owners>,
): Promise<ModifiedFile> {
  const side = after ? "after" : "before";
  const inode = after ?? before;
  if (!inode) throw new Error(`${path} is on no side`);
  const { type, mode, uid, gid, size } = inode;
  const [owner, group] = [owners[side].users.get(uid), owners[side].groups.get(gid)];
  const target = type === "l" ? textOf((await sides[side].target(inode)).toString("latin1")) : undefined;
  const isNewName =
    after !== null && (owner !== owners.before.users.get(uid) || group !== owners.before.groups.get(gid));
  return {
    change,
    path,
    content,
    type,
    mode,
    uid,
    gid,
    size: type === "f" ? size : 0,
    ...(owner === undefined ? {} : { owner }),
    ...(group === undefined ? {} : { group }),
    ...(isNewName ? { isNewName } : {}),
    ...(target === undefined ? {} : { target }),
  };
}

/** Names from the file system's own /etc/passwd and /etc/group. An unusable file gives no names. */
const ownersOf = async (files: FileSystem): Promise<Owners> => ({
  users: await namesIn(files, "/etc/passwd"),
  groups: await namesIn(files, "/etc/group"),
});

const maxNamesBytes = 1024 * 1024;
/** A valid name for the owner of an overlay file. */
const ownerName = /^[a-z_][a-z0-9_.-]{0,30}[$a-z0-9_.-]?$/i;

async function namesIn(files: FileSystem, path: string): Promise<Owners["users"]> {
  const inode = await files.at(path);
  if (inode?.type !== "f" || inode.size > maxNamesBytes) return new Map();
  return namesOf((await bytesOf(files.content(inode))).toString("latin1"), ownerName);
}

/** The difference of small text files. Undefined for everything else. */
async function differenceOf({ path, before, after, content }: Change, sides: Sides): Promise<string | undefined> {
  if (!content) return undefined;
  const old = await textIn(sides.before, before);
  const now = await textIn(sides.after, after);
  if (old === undefined || now === undefined) return undefined;
  const names = [before ? `a${path}` : "/dev/null", after ? `b${path}` : "/dev/null"] as const;
  return unifiedDifference(old, now, names) || undefined;
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
/** Control characters that our documents cannot contain, or would change. */
const unfit = /[\u0000-\u0008\u000b-\u001f\u007f\ufffe\uffff]/;

/** The text of a file: "" if there is no file, undefined if it is not text. */
async function textIn(files: FileSystem, inode: Inode | null): Promise<string | undefined> {
  if (inode === null) return "";
  if (inode.type !== "f" || inode.size > maxTextBytes) return undefined;
  try {
    const text = utf8.decode(await bytesOf(files.content(inode)));
    return unfit.test(text) ? undefined : text;
  } catch (error) {
    if (error instanceof TypeError) return undefined; // not UTF-8
    throw error;
  }
}
