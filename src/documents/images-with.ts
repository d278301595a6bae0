import { imageTypes } from "#lib/contract/index";
import { affectedStates } from "#model/advisory";
import type { ImageFound } from "#domain/advisories/images-with";
import { arrayOf, fields, id, inside, oneOf, text, time, version } from "#lib/wire/field";
import { document } from "#lib/wire/shape";

const found = fields({
  name: text("name", "libssl3"),
  version: text("version", "3.0.15-1~deb12u1"),
  arch: text("arch", "amd64"),
  state: oneOf("state", affectedStates, "fixed").optional(),
  fixed: text("fixed", "3.0.17-1~deb12u3").optional(),
});

/** The element `images`: a Kiln extension. */
const image = fields({
  build_id: id("id", 31),
  appliance_id: id("applianceId", 1004),
  appliance: text("name", "Reading room"),
  version: version("version", "0.0.2"),
  image_type: oneOf("imageType", imageTypes, "oem"),
  completed_at: time(({ completedAt }: ImageFound) => completedAt ?? new Date(0), "2026-03-04T16:24:50Z"),
  packages: inside("packages", arrayOf("package", found)),
});

export const imagesWith = document("ImagesWith", "images", arrayOf("image", image));
