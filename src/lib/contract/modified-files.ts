import { z } from "zod";

/*
 * The files that a testdrive's session has changed in its image (decision 16). The Worker sends orders on the socket
 * GET /agent/testdrives/:id/modified. The agent opens the socket when the machine runs and closes it when it deletes
 * the session's disk. It answers each order at POST /agent/testdrives/:id/modified/:request.
 */

const maxPathLength = 4096; // PATH_MAX

/** The maximum number of entries in a list. */
export const maxModifiedFiles = 10_000;
/** Largest file whose difference is shown. */
export const maxTextBytes = 64 * 1024;
/** Limit of all differences in a list together. */
export const maxDifferenceBytes = 4 * 1024 * 1024;
/** Limit of an answer's JSON: the entries, and the differences with up to six bytes for a character. */
export const maxAnswerBytes = 16 * 1024 * 1024;

export const ModifiedFilter = z.object({
  /** Includes these paths and everything below; empty for everything. Absolute, without a slash at the end. */
  paths: z.array(z.string().startsWith("/").max(maxPathLength)).max(200),
  /** Excludes these paths and everything below. */
  except: z.array(z.string().startsWith("/").max(maxPathLength)).max(200),
  /** Excludes what only the image's owner may read (`isSecretPath`). */
  withoutSecrets: z.boolean().optional(),
});
export type ModifiedFilter = z.infer<typeof ModifiedFilter>;

/** Worker → agent. */
export const ModifiedOrder = z.object({
  request: z.uuid(),
  filter: ModifiedFilter,
  wanted: z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("list"), withDifferences: z.boolean() }),
    /** The bytes of a regular file, at the time of the list `reading`, or else now. */
    z.object({ kind: z.literal("data"), path: z.string().max(maxPathLength), reading: z.string().optional() }),
    /** A tar.gz of everything that was added or changed. */
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
  /** Names from the image's own /etc/passwd and /etc/group; absent if these do not contain the number. */
  owner: z.string().max(255).optional(),
  group: z.string().max(255).optional(),
  /** The session created the owner or the group, so another build of the appliance does not have it. */
  isNewName: z.boolean().optional(),
  size: z.int().nonnegative(),
  /** The target of a symbolic link. */
  target: z.string().max(maxPathLength).optional(),
});

export const ModifiedFile = Inode.extend({
  change: z.enum(["added", "changed", "deleted"]),
  path: z.string().startsWith("/").max(maxPathLength),
  /** Whether its bytes or the link's target differ; false if only owner, group or mode differ. */
  content: z.boolean(),
  /** A unified diff, if the file is text before and after. */
  difference: z
    .string()
    .max(6 * maxTextBytes)
    .optional(),
});
export type ModifiedFile = z.infer<typeof ModifiedFile>;

export const ModifiedList = z.object({
  kind: z.literal("list"),
  /** Identifies the time of this list, for `data` orders. */
  reading: z.string().max(100),
  files: z.array(ModifiedFile).max(maxModifiedFiles),
  /** Whether there are more files. */
  truncated: z.boolean(),
  /** Number of files omitted because their names cannot be written in a document. */
  unnamed: z.int().nonnegative(),
});
export type ModifiedList = z.infer<typeof ModifiedList>;

/** Agent → Worker, as JSON. The bytes of `data` and `archive` are sent as application/octet-stream instead. */
export const ModifiedAnswer = z.discriminatedUnion("kind", [
  ModifiedList,
  z.object({
    kind: z.literal("refused"),
    /** There is no such regular file, the disk cannot be read, or the list is no longer stored. */
    why: z.enum(["no_file", "unreadable", "gone"]),
    message: z.string().max(500),
  }),
]);
export type ModifiedAnswer = z.infer<typeof ModifiedAnswer>;
/** Size of the content in bytes. Unknown for an archive. */
export const contentSizeHeader = "x-kiln-size";
