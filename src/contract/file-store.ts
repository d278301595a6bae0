import { z } from "zod";

/*
 * The file store of an image: what lies in its root, so that single files can be read back without the image.
 *
 * `files` is a row of zstd frames, one for each content that a regular file of the root has, whatever it is called. `files-index`
 * is a row of gzip members, and so prints with zcat: blocks of entries, a line of JSON for each, in the order of
 * `orderOf`; then the table of the blocks, one line; then the offset of the table, always `pointerBytes` long. Who looks for a
 * path reads the end and one block.
 */

const longestPath = 4096; // PATH_MAX
const Owned = z.object({
  /** Absolute, without a slash at its end; the root itself is "/". */
  path: z.string().startsWith("/").max(longestPath),
  /** Permissions with setuid, setgid and sticky. */
  mode: z.int().min(0).max(0o7777),
  uid: z.int().nonnegative(),
  gid: z.int().nonnegative(),
  /** By the root's own /etc/passwd and /etc/group; absent where these do not know the number. */
  owner: z.string().optional(),
  group: z.string().optional(),
});

/** One name in the root: a regular file, symbolic link, directory, character or block device, FIFO or socket. */
export const FileEntry = z.discriminatedUnion("type", [
  Owned.extend({
    type: z.literal("f"),
    /** Bytes of the file, and where its frame lies in `files`. */
    size: z.int().nonnegative(),
    /** Of its content; absent in stores from before builds were compared. */
    sha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .optional(),
    offset: z.int().nonnegative(),
    length: z.int().positive(),
  }),
  Owned.extend({ type: z.literal("l"), target: z.string().max(longestPath) }),
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

/** A block ends behind the entry with which it reaches this, unpacked. */
export const blockBytes = 64 * 1024;
/** More no block has: an entry is two paths at most, of which JSON may make six bytes for one. */
export const maxBlockBytes = blockBytes + 16 * longestPath;
/** The table of a root with some millions of files. */
export const maxTableBytes = 8 * 1024 * 1024;
/** Of the last gzip member, which holds 16 bytes as they are: the table's offset in decimal digits, and a newline. */
export const pointerBytes = 39;
export const pointerText = (offset: number): string => `${String(offset).padStart(15)}\n`;

/** Paths compare by this: a directory stands right before all that is below it. No name has a NUL. */
export const orderOf = (path: string): string => (path === "/" ? "\0" : path.replaceAll("/", "\0"));
