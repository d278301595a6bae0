import type { ModifiedFile } from "#lib/contract/index";
import { arrayOf, bool, fields, id, inside, int, oneOf, text } from "#lib/wire/field";
import { document } from "#lib/wire/shape";
import { overlayFile } from "#documents/overlay-file";
import { shownPermissions } from "#lib/contract/file-mode";

const types = {
  f: "file",
  d: "directory",
  l: "link",
  c: "character_device",
  b: "block_device",
  p: "fifo",
  s: "socket",
} as const satisfies Record<ModifiedFile["type"], string>;

/** A file that differs from the image. */
const modifiedFile = fields({
  change: oneOf("change", ["changed", "added", "deleted"]),
  path: text("path", "/etc/motd"),
  type: oneOf(({ type }: ModifiedFile) => types[type], Object.values(types)),
  permissions: text(({ mode }: ModifiedFile) => shownPermissions(mode), "644"),
  owner: text(({ owner, uid }: ModifiedFile) => owner ?? String(uid), "root"),
  group: text(({ group, gid }: ModifiedFile) => group ?? String(gid), "root"),
  size: int("size", 14),
  content_changed: bool("content", true),
  target: text("target", "../usr/share/motd").optional(),
  caution: oneOf("caution", ["secret", "identity", "log", "state", "large"]).optional(),
  difference: text("difference", "--- a/etc/motd\n+++ b/etc/motd\n@@ -1 +1 @@\n-Welcome\n+Welcome, clerk\n").optional(),
});

export const modifiedFiles = document(
  "ModifiedFiles",
  "modified_files",
  fields({
    truncated: bool("truncated", false),
    unnamed: int("unnamed", 0),
    files: inside("files", arrayOf("file", modifiedFile)),
  }),
);

const leftOut = fields({
  path: text("path", "/srv/old"),
  reason: text("reason", "It was deleted, but overlay files can only add files."),
});

/** The overlay files that were created, and the files that could not become one. */
export const keptFiles = document(
  "KeptFiles",
  "kept_files",
  fields({
    appliance_id: id("applianceId", 24),
    files: inside("files", arrayOf("file", overlayFile)),
    left_out: inside("leftOut", arrayOf("file", leftOut)),
  }),
);
