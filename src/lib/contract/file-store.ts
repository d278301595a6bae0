import { z } from "zod";
import { Sha256 } from "./image-type.ts";

/*
 * The file store of an image: the contents of its root, so that single files can be read without the image.
 *
 * `files` is a sequence of zstd frames, one for each distinct content of a regular file. `files-index` is a sequence of gzip
 * members, so zcat prints it: first blocks of entries, one line of JSON each, in the order of `orderOf`; then the table
 * of the blocks, one line; then the offset of the table, always `pointerBytes` long. To find a path, a reader needs
 * only the end and one block.
 */

const maxPathLength = 4096; // PATH_MAX
const Owned = z.object({
  /** Absolute, without a slash at the end. The root itself is "/". */
  path: z.string().startsWith("/").max(maxPathLength),
  /** Permissions, including setuid, setgid and sticky. */
  mode: z.int().min(0).max(0o7777),
  uid: z.int().nonnegative(),
  gid: z.int().nonnegative(),
  /** Names from the root's own /etc/passwd and /etc/group; absent if these do not contain the number. */
  owner: z.string().optional(),
  group: z.string().optional(),
});

/** One entry of the root: a regular file, symbolic link, directory, character or block device, FIFO or socket. */
export const FileEntry = z.discriminatedUnion("type", [
  Owned.extend({
    type: z.literal("f"),
    /** Bytes of the file. `offset` and `length` are the position of its frame in `files`. */
    size: z.int().nonnegative(),
    /** SHA-256 of its content; absent in stores of older versions. */
    sha256: Sha256.optional(),
    offset: z.int().nonnegative(),
    length: z.int().positive(),
  }),
  Owned.extend({ type: z.literal("l"), target: z.string().max(maxPathLength) }),
  Owned.extend({ type: z.enum(["d", "c", "b", "p", "s"]) }),
]);
export type FileEntry = z.infer<typeof FileEntry>;
export type RegularFile = Extract<FileEntry, { type: "f" }>;

/** The blocks of an index, in order. */
export const FileTable = z.object({
  formatVersion: z.literal(1),
  blocks: z.array(z.object({ first: z.string(), offset: z.int().nonnegative(), length: z.int().positive() })).min(1),
});
export type FileTable = z.infer<typeof FileTable>;

/** A block ends after the entry that makes its unpacked size reach this. */
export const blockBytes = 64 * 1024;
/** The maximum size of a block: an entry has at most two paths, and JSON may need six bytes for each of their bytes. */
export const maxBlockBytes = blockBytes + 16 * maxPathLength;
/** This is enough for a root with several million files. */
export const maxTableBytes = 8 * 1024 * 1024;
/**
 * Size of the last gzip member. It stores 16 bytes uncompressed: the table's offset in decimal digits and a newline.
 */
export const pointerBytes = 39;
export const pointerText = (offset: number): string => `${String(offset).padStart(15)}\n`;

/** The sort key of a path: a directory comes right before everything below it. No name contains a NUL. */
export const orderOf = (path: string): string => (path === "/" ? "\0" : path.replaceAll("/", "\0"));
