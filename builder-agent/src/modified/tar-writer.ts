import type { Change } from "./compare.ts";
import type { Inode } from "./ext4-inode.ts";
import type { FileSystem } from "./file-system.ts";

const blockBytes = 512;
const kinds: Partial<Record<Inode["type"], string>> = { f: "0", l: "2", d: "5" };
const maxOctal = 8 ** 7 - 1;
const maxSize = 8 ** 11 - 1;

/**
 * A tar of the new files, directories and links, with owner and mode. Uses pax records (POSIX.1-2001) where ustar has
 * no room.
 */
export async function* writeTar(files: FileSystem, changes: readonly Change[]): AsyncGenerator<Buffer> {
  for (const { path, after } of changes) {
    const kind = after && kinds[after.type];
    if (!after || !kind) continue;
    const target = after.type === "l" ? await files.target(after) : Buffer.alloc(0);
    yield* headOf(Buffer.from(path.slice(1)), target, after, kind);
    if (after.type !== "f") continue;
    for await (const bytes of files.content(after)) yield bytes;
    yield padding(after.size);
  }
  yield Buffer.alloc(2 * blockBytes);
}

function* headOf(name: Buffer, target: Buffer, inode: Inode, kind: string): Generator<Buffer> {
  const size = inode.type === "f" ? inode.size : 0;
  const records = [
    ...(isPlain(name) ? [] : [record("path", name)]),
    ...(isPlain(target) ? [] : [record("linkpath", target)]),
    ...(inode.uid > maxOctal ? [record("uid", Buffer.from(String(inode.uid)))] : []),
    ...(inode.gid > maxOctal ? [record("gid", Buffer.from(String(inode.gid)))] : []),
    ...(size > maxSize ? [record("size", Buffer.from(String(size)))] : []),
  ];
  if (records.length > 0) {
    const extended = Buffer.concat(records);
    yield block({ name: Buffer.from("pax"), target: Buffer.alloc(0), kind: "x", size: extended.length, mode: 0o644 });
    yield Buffer.concat([extended, padding(extended.length)]);
  }
  yield block({ name, target, kind, size, mode: inode.mode, uid: inode.uid, gid: inode.gid, at: inode.modifiedAt });
}

interface Block {
  name: Buffer;
  target: Buffer;
  kind: string;
  size: number;
  mode: number;
  uid?: number;
  gid?: number;
  at?: number;
}

/** https://pubs.opengroup.org/onlinepubs/9699919799/utilities/pax.html, "ustar Interchange Format". */
function block({ name, target, kind, size, mode, uid = 0, gid = 0, at = 0 }: Block): Buffer {
  const bytes = Buffer.alloc(blockBytes);
  name.copy(bytes, 0, 0, 100);
  bytes.write(octal(mode, maxOctal, 7), 100);
  bytes.write(octal(uid, maxOctal, 7), 108);
  bytes.write(octal(gid, maxOctal, 7), 116);
  bytes.write(octal(size, maxSize, 11), 124);
  bytes.write(octal(at, maxSize, 11), 136);
  bytes.write(" ".repeat(8), 148);
  bytes.write(kind, 156);
  target.copy(bytes, 157, 0, 100);
  bytes.write("ustar\u000000", 257, "latin1");
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return bytes;
}

/** 0 if the value does not fit. Then a pax record contains it. */
const octal = (value: number, max: number, digits: number): string =>
  (value > max ? 0 : value).toString(8).padStart(digits, "0");

const isPlain = (bytes: Buffer): boolean => bytes.length <= 100 && bytes.every((byte) => byte < 128);

const padding = (size: number): Buffer => Buffer.alloc((blockBytes - (size % blockBytes)) % blockBytes);

/** A record starts with its own length, which includes the digits of the length. */
function record(key: string, value: Buffer): Buffer {
  const rest = key.length + value.length + 3;
  let length = rest + String(rest).length;
  if (String(length).length > String(rest).length) length = rest + String(length).length;
  return Buffer.concat([Buffer.from(`${length} ${key}=`), value, Buffer.from("\n")]);
}
