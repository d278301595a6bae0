import { createWriteStream } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { partBytes, type FileEntry } from "../contract.ts";
import { openDigests } from "../upload/checksum.ts";
import type { UploadFile } from "../upload/upload.ts";
import { FileContents, type Frame } from "./file-contents.ts";
import { FileIndexWriter } from "./file-index.ts";
import type { RootOwners } from "./root-owners.ts";
import type { Found, RootTree } from "./root-walk.ts";

/** The file store of a root, on this disk. */
export interface FileStore {
  files: UploadFile;
  index: UploadFile;
  entries: number;
}

/** So many files are read and compressed ahead of the one that is written: enough for libuv's four threads. */
const readAhead = 8;

/** Writes the file store of a root that nobody changes any more. The same root gives the same bytes. */
export async function writeFileStore(
  root: RootTree,
  { dir, signal }: { dir: string; signal: AbortSignal },
): Promise<FileStore> {
  const index = new FileIndexWriter();
  const contents = new FileContents(signal, root.ahead);
  const owners = await root.owners();
  const files = await written(dir, "files.zst", storeBytes({ root, owners, contents, index, signal }));
  return { files, index: await written(dir, "files-index.gz", index.end()), entries: index.entries };
}

interface Store {
  root: RootTree;
  owners: RootOwners;
  contents: FileContents;
  index: FileIndexWriter;
  signal: AbortSignal;
}

/** The bytes of `files`; what is in them is added to the index. */
async function* storeBytes({ root, owners, contents, index, signal }: Store): AsyncGenerator<Buffer> {
  const read = async (found: Found) => {
    signal.throwIfAborted();
    const content = found.type === "f" ? await contents.read(found.place, found.size) : undefined;
    return { found, content };
  };
  yield* contents.begin();
  for await (const { found, content } of inOrder(root.entries(), readAhead, read)) {
    if (content) yield* contents.bytesOf(content);
    index.add(
      entryOf(
        found,
        owners,
        content && { size: content.size, sha256: hex(content.digest), ...contents.frameOf(content) },
      ),
    );
  }
}

/** `frame`: where the content of a regular file was written. */
function entryOf(
  { path, type, mode, uid, gid, target }: Found,
  { users, groups }: RootOwners,
  frame: (Frame & { size: number; sha256: string }) | undefined,
): FileEntry {
  const [owner, group] = [users.get(uid), groups.get(gid)];
  const names = { ...(owner !== undefined && { owner }), ...(group !== undefined && { group }) };
  const owned = { path, mode, uid, gid, ...names };
  if (type === "l") return { ...owned, type, target };
  if (type !== "f") return { ...owned, type };
  if (!frame) throw new Error(`${path} has no content`);
  return { ...owned, type, ...frame };
}

const hex = (base64: string): string => Buffer.from(base64, "base64").toString("hex");

/** Works on some items ahead and gives the results in the order of the items. */
async function* inOrder<T, R>(
  items: AsyncIterable<T>,
  ahead: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const begun: Promise<R>[] = [];
  for await (const item of items) {
    const one = work(item);
    one.catch(() => {}); // thrown when its turn comes
    begun.push(one);
    const next = begun.length > ahead ? begun.shift() : undefined;
    if (next) yield await next;
  }
  for (const one of begun) yield await one;
}

async function written(dir: string, fileName: string, bytes: Iterable<Buffer> | AsyncIterable<Buffer>) {
  const path = join(dir, fileName);
  const digests = openDigests(partBytes);
  await pipeline(Readable.from(bytes), digests.through, createWriteStream(path, { highWaterMark: 1024 * 1024 }));
  return { path, fileName, digests: digests.result() };
}
