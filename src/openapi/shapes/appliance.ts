import {
  arrayOf,
  document,
  fields,
  id,
  imageType,
  int,
  oneOf,
  only,
  optional,
  plainListOf,
  text,
  time,
  url,
  version,
} from "#openapi/shape";

const image = fields({
  id: id(31),
  version: version("0.0.2"),
  image_type: imageType("oem"),
  image_size: int(412),
  compressed_image_size: int(118),
  download_url: url("https://kiln.example.org/download/4f1c…/Reading_room.x86_64-0.0.2.oem.tar.gz"),
});

const applianceShape = fields({
  id: id(1004),
  name: text("Reading room"),
  arch: oneOf("x86_64", "i586"),
  type: imageType("oem"),
  last_edited: time("2026-03-04T16:20:11Z"),
  estimated_raw_size: text("410 MB"),
  estimated_compressed_size: text("120 MB"),
  edit_url: url("https://kiln.example.org/appliance/edit/1004"),
  icon_url: only("v1", url("https://kiln.example.org/api/v1/user/appliance_icon/1004")),
  basesystem: text("tiny-1.0"),
  uuid: text("6e0a7c0e-2f0b-4a3c-9d5d-0c9a4f2b7e11"),
  parent: optional(fields({ id: id(1), name: text("Tiny Linux 1.0, just enough OS") })),
  builds: arrayOf("build", image),
});

export const appliance = document("Appliance", "appliance", applianceShape);
export const appliances = document("Appliances", "appliances", arrayOf("appliance", applianceShape));

export const applianceStatus = document(
  "ApplianceStatus",
  "status",
  fields({
    state: oneOf("error", "ok"),
    issues: plainListOf(
      "issue",
      fields({
        type: oneOf("error", "warning"),
        text: text("No kernel is selected."),
        solution: optional(fields({ type: oneOf("install", "remove"), package: text("kernel-default") })),
      }),
    ),
  }),
);
