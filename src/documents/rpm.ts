import type { Uploads } from "#domain/rpms/upload";
import { md5 } from "#documents/overlay-file";
import { bool, fields, id, int, markedArrayOf, text } from "#lib/wire/field";
import { document } from "#lib/wire/shape";

const upload = {
  id: id("id", 5),
  filename: text("fileName", "counter-1.4-1.x86_64.rpm"),
  size: int("size", 48_120),
  archive: bool("isArchive", false),
};
const baseSystem = { base_system: text("baseSystem", "tiny-1.0") };

/** The element `rpm` (compatibility.md, "RPM uploads"). */
export const rpm = document("Rpm", "rpm", fields({ ...upload, ...baseSystem, checksum: md5 }));

/** The list names the base system instead of its entries. */
export const rpms = document(
  "Rpms",
  "rpms",
  markedArrayOf(baseSystem, ({ uploads }: Uploads) => uploads, {
    item: "rpm",
    of: fields({ ...upload, checksum: md5 }),
  }),
);
