import { orderOf, type FileEntry } from "#lib/contract/index";
import { entriesIn, type FileIndex } from "#domain/images/file-store";
import type { Change } from "#domain/difference/packages";

/** The file at a path in an image. */
export interface ComparedFile {
  type: FileEntry["type"];
  mode: number;
  /** A name, or the number as text if the image has no name for it. */
  owner: string;
  group: string;
  size?: number;
  /** Absent if it is not a regular file, or if the build is older than stored checksums. */
  sha256?: string;
  /** The target of a symbolic link. */
  target?: string;
}

export interface FileChange extends Change<ComparedFile> {
  path: string;
}

/**
 * Which part of the images to compare: a directory and everything below it, the path to start after, and the maximum
 * number of changes.
 */
export interface FileRange {
  path: string;
  after?: string | undefined;
  limit: number;
}

/** A page of changes in the order of paths. The next page begins after the path `next`. */
export interface FileDifference {
  changes: FileChange[];
  next?: string;
}

/**
 * How many paths one page compares, which takes half a second. Two large, similar images must not use up all of a
 * request's time.
 */
const maxPaths = 50_000;

/** Merges two indexes. Only the blocks that are being read are in memory. */
export async function fileDifference(
  from: Pick<FileIndex, "entriesFrom">,
  to: Pick<FileIndex, "entriesFrom">,
  { path, after, limit }: FileRange,
  lookAt = maxPaths,
): Promise<FileDifference> {
  const changes: FileChange[] = [];
  let left = lookAt;
  for await (const pair of pairs(entriesIn(from, path, after), entriesIn(to, path, after))) {
    const change = changeOf(pair);
    if (change) changes.push(change);
    left -= 1;
    if (changes.length === limit || left <= 0) return { changes, next: pair.path };
  }
  return { changes };
}

interface Pair {
  path: string;
  from: FileEntry | undefined;
  to: FileEntry | undefined;
}

/** Joins the entries of both images by path. */
async function* pairs(
  fromEntries: AsyncGenerator<FileEntry>,
  toEntries: AsyncGenerator<FileEntry>,
): AsyncGenerator<Pair> {
  let [from, to] = await Promise.all([nextOf(fromEntries), nextOf(toEntries)]);
  for (;;) {
    const path = firstOf(from, to);
    if (path === undefined) return;
    const pair = { path, from: entryAt(from, path), to: entryAt(to, path) };
    yield pair;
    [from, to] = await Promise.all([pair.from ? nextOf(fromEntries) : from, pair.to ? nextOf(toEntries) : to]);
  }
}

const nextOf = async (entries: AsyncGenerator<FileEntry>): Promise<FileEntry | undefined> => {
  const { done, value } = await entries.next();
  return done ? undefined : value;
};

function firstOf(from: FileEntry | undefined, to: FileEntry | undefined): string | undefined {
  if (!from || !to) return (from ?? to)?.path;
  return orderOf(from.path) <= orderOf(to.path) ? from.path : to.path;
}

const entryAt = (entry: FileEntry | undefined, path: string): FileEntry | undefined =>
  entry?.path === path ? entry : undefined;

function changeOf({ path, from, to }: Pair): FileChange | undefined {
  if (!from) return to && { change: "added", path, to: comparedFile(to) };
  if (!to) return { change: "removed", path, from: comparedFile(from) };
  const [was, is] = [comparedFile(from), comparedFile(to)];
  return isSame(was, is) ? undefined : { change: "changed", path, from: was, to: is };
}

function comparedFile(entry: FileEntry): ComparedFile {
  const { type, mode, owner = String(entry.uid), group = String(entry.gid) } = entry;
  const facts = { type, mode, owner, group };
  if (entry.type === "l") return { ...facts, target: entry.target };
  if (entry.type !== "f") return facts;
  return { ...facts, size: entry.size, ...(entry.sha256 !== undefined && { sha256: entry.sha256 }) };
}

/** Whether a file is the same in both images. A checksum that only one build has is ignored. */
const isSame = (was: ComparedFile, is: ComparedFile): boolean =>
  was.type === is.type &&
  was.mode === is.mode &&
  was.owner === is.owner &&
  was.group === is.group &&
  was.target === is.target &&
  was.size === is.size &&
  (was.sha256 ?? is.sha256) === (is.sha256 ?? was.sha256);
