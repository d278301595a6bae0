import { arrayOf, bool, document, fields, id, int, oneOf, optional, text } from "#openapi/shape";
import { overlayFile } from "#openapi/shapes/contents";

const modifiedFile = fields({
  change: oneOf("changed", "added", "deleted"),
  path: text("/etc/motd"),
  type: oneOf("file", "directory", "link", "character_device", "block_device", "fifo", "socket"),
  permissions: text("644"),
  owner: text("root"),
  group: text("root"),
  size: int(14),
  content_changed: bool(true),
  target: optional(text("../usr/share/motd")),
  difference: optional(text("--- a/etc/motd\n+++ b/etc/motd\n@@ -1 +1 @@\n-Welcome\n+Welcome, clerk\n")),
});

export const modifiedFiles = document(
  "ModifiedFiles",
  "modified_files",
  fields({ truncated: bool(false), unnamed: int(0), files: arrayOf("file", modifiedFile) }),
);

export const keptFiles = document(
  "KeptFiles",
  "kept_files",
  fields({
    appliance_id: id(24),
    files: arrayOf("file", overlayFile),
    left_out: arrayOf(
      "file",
      fields({ path: text("/srv/old"), reason: text("It was deleted, and overlay files only add.") }),
    ),
  }),
);
