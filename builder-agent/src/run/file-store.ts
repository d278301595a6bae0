import type { FileEntry } from "../contract.ts";
import { PartedFile } from "../upload/parted-file.ts";
import type { UploadFile } from "../upload/upload.ts";
import { FileContents, type Frame } from "./file-contents.ts";
import { FileIndexWriter } from "./file-index.ts";
import { PackedAhead } from "./packed-ahead.ts";
import type { Owners } from "./root-owners.ts";
import type { Found, RootTree } from "./root-walk.ts";

/** The file store of a root, on this disk. */
export interface FileStore {
  files: UploadFile;
  index: UploadFile;
  entries: number;
}

/** How many files are read and compressed ahead of the one being written: enough for libuv's four threads. */
const readAhead = 8;

export interface StoreTarget {
  dir: string;
  signal: AbortSignal;
}

/** Writes the file store of a root that no longer changes. */
export async function writeFileStore(root: RootTree, target: StoreTarget): Promise<FileStore> {
  await using writer = await FileStoreWriter.begin(target);
  return await writer.finish(root);
}

/** A file store on this disk that is still being written. */
export class FileStoreWriter implements AsyncDisposable {
  /** The contents, which can already be sent. */
  readonly files: PartedFile;
  readonly #target: StoreTarget;
  readonly #contents: FileContents;
  #ahead: PackedAhead | undefined;

  private constructor(target: StoreTarget, files: PartedFile) {
    this.#target = target;
    this.files = files;
    this.#contents = new FileContents(files, target.signal);
  }

  static async begin(target: StoreTarget): Promise<FileStoreWriter> {
    const writer = new FileStoreWriter(target, await PartedFile.create(target.dir, "files.zst"));
    await writer.#contents.begin();
    return writer;
  }

  /** Adds the contents of a root that still changes. End it before `finish`. */
  packAhead(root: RootTree): PackedAhead {
    return (this.#ahead = new PackedAhead(root.entries(), this.#contents));
  }

  /** Adds the missing contents and all names of a root that no longer changes. */
  async finish(root: RootTree): Promise<FileStore> {
    const index = new FileIndexWriter();
    const owners = await root.owners();
    for await (const { found, content } of inOrder(root.entries(), readAhead, (each) => this.#read(each))) {
      if (content) await this.#contents.add(content);
      const stored = content && { sha256: hex(content.digest), size: content.size, ...this.#contents.frameOf(content) };
      index.add(entryOf(found, owners, stored));
    }
    await using list = await PartedFile.create(this.#target.dir, "files-index.gz");
    for (const bytes of index.end()) await list.write(bytes);
    return { files: await this.files.end(), index: await list.end(), entries: index.entries };
  }

  /** Does nothing to a finished store. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#ahead?.end();
    await this.files[Symbol.asyncDispose]();
  }

  async #read(found: Found) {
    this.#target.signal.throwIfAborted();
    if (found.type !== "f") return { found };
    const known = this.#ahead?.find(found.hostPath);
    return { found, content: known ?? (await this.#contents.read(found.hostPath, found.size)) };
  }
}

/** @param frame where the content of a regular file is */
function entryOf(
  { path, type, mode, uid, gid, target }: Found,
  { users, groups }: Owners,
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

/** Works on several items at a time and yields the results in the order of the items. */
async function* inOrder<T, R>(
  items: AsyncIterable<T>,
  ahead: number,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R> {
  const begun: Promise<R>[] = [];
  for await (const item of items) {
    const one = work(item);
    one.catch(() => {}); // thrown when it is yielded
    begun.push(one);
    const next = begun.length > ahead ? begun.shift() : undefined;
    if (next) yield await next;
  }
  for (const one of begun) yield await one;
}
