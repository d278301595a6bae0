import { z } from "zod";

/*
 * What a testdrive's session has changed in its image (docs/decisions/0023-modified-files.md). The Worker orders on the
 * socket GET /agent/testdrives/:id/modified, which the agent dials when the machine runs and holds as long as it keeps the
 * session's disk; the agent answers each order at POST /agent/testdrives/:id/modified/:request.
 */

const longestPath = 4096; // PATH_MAX

/** So many entries a list has at most. */
export const maxModifiedFiles = 10_000;
/** Files up to so many bytes show their difference, and all of a list together up to so many. */
export const maxTextBytes = 64 * 1024;
export const maxDifferenceBytes = 4 * 1024 * 1024;
/** An answer's JSON: the differences, each sign maybe as six, and the entries. */
export const maxAnswerBytes = 16 * 1024 * 1024;

export const ModifiedFilter = z.object({
  /** Paths of which, and below which; empty: all. Absolute, without a slash at their ends. */
  paths: z.array(z.string().startsWith("/").max(longestPath)).max(200),
  /** Of these, and below these, nothing. */
  except: z.array(z.string().startsWith("/").max(longestPath)).max(200),
});
export type ModifiedFilter = z.infer<typeof ModifiedFilter>;

/** Worker → agent. */
export const ModifiedOrder = z.object({
  request: z.uuid(),
  filter: ModifiedFilter,
  wanted: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("list"), withDifferences: z.boolean() }),
    /** The bytes of a regular file, from the moment that `reading` names; undefined: now. */
    z.object({ kind: z.literal("data"), path: z.string().max(longestPath), reading: z.string().optional() }),
    /** A tar.gz of all that was added or changed. */
    z.object({ kind: z.literal("archive") }),
  ]),
});
export type ModifiedOrder = z.infer<typeof ModifiedOrder>;

const Inode = z.object({
  /** Regular file, directory, symbolic link, character or block device, FIFO, socket. */
  type: z.enum(["f", "d", "l", "c", "b", "p", "s"]),
  mode: z.int().min(0).max(0o7777),
  uid: z.int().nonnegative(),
  gid: z.int().nonnegative(),
  /** By the image's own /etc/passwd and /etc/group; absent where these do not know the number. */
  owner: z.string().max(255).optional(),
  group: z.string().max(255).optional(),
  /** The owner's or the group's name came with the session: another build of the appliance does not know it. */
  isNewName: z.boolean().optional(),
  size: z.int().nonnegative(),
  /** Of a symbolic link. */
  target: z.string().max(longestPath).optional(),
});

export const ModifiedFile = Inode.extend({
  change: z.enum(["added", "changed", "deleted"]),
  path: z.string().startsWith("/").max(longestPath),
  /** Whether its bytes, or the link's target, differ; false where only owner, group or mode do. */
  content: z.boolean(),
  /** A unified difference, of files that are text before and after. */
  difference: z
    .string()
    .max(6 * maxTextBytes)
    .optional(),
});
export type ModifiedFile = z.infer<typeof ModifiedFile>;

export const ModifiedList = z.object({
  kind: z.literal("list"),
  /** Names the moment for orders of `data`. */
  reading: z.string().max(100),
  files: z.array(ModifiedFile).max(maxModifiedFiles),
  /** There are more. */
  truncated: z.boolean(),
  /** Left out, because their names are no text that a document could hold. */
  unnamed: z.int().nonnegative(),
});
export type ModifiedList = z.infer<typeof ModifiedList>;

/** Agent → Worker, as JSON; the bytes of `data` and `archive` come as application/octet-stream instead. */
export const ModifiedAnswer = z.discriminatedUnion("kind", [
  ModifiedList,
  z.object({
    kind: z.literal("refused"),
    /** No such regular file; no disk that can be read; or the reading is over. */
    why: z.enum(["no_file", "unreadable", "gone"]),
    message: z.string().max(500),
  }),
]);
export type ModifiedAnswer = z.infer<typeof ModifiedAnswer>;
/** Bytes of the content that follows; not known of an archive. */
export const contentSizeHeader = "x-kiln-size";
