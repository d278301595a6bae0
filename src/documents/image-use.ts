import { imageUse } from "#lib/contract/index";
import type { Build } from "#storage/builds";
import { fields, inside, plainListOf, text } from "#lib/wire/field";
import * as leaves from "#lib/wire/leaf";

const way = fields({
  title: text("title", "Unpack it"),
  note: text("note", "Everything on that disk is lost.").optional(),
  lines: inside("lines", plainListOf("line", leaves.text("tar -xzf Reading_room.x86_64-0.0.2.oem.tar.gz"))),
});

const shape = fields({
  what: text("what", "A tar archive with a raw disk image, for a disk, a USB stick or a virtual machine."),
  ways: inside("ways", plainListOf("way", way)),
});

/** The kind of the downloaded file, and how to start it: shell commands with its name. Absent if there is no file. */
export const use = inside(
  ({ imageType, fileName }: Pick<Build, "imageType" | "fileName">) =>
    fileName === null ? undefined : imageUse({ imageType, fileName }),
  shape,
);
