import {
  arrayOf,
  bool,
  digest,
  document,
  fields,
  id,
  imageType,
  int,
  oneOf,
  only,
  optional,
  text,
  time,
  url,
  version,
} from "#openapi/shape";

const facts = {
  id: id(31),
  version: version("0.0.2"),
  state: oneOf("finished", "failed", "error", "cancelled"),
  expired: bool(false),
  image_type: imageType("oem"),
  checksum: optional(
    fields({
      md5: digest("7b1f3a0c5d9e4e0f8a2b6c1d3e5f7a90"),
      sha1: digest("0e6b7d2f4a1c3958b7d6e5f4a3b2c1d0e9f8a7b6"),
    }),
  ),
  size: int(412),
  compressed_image_size: int(118),
  created_at: only("v2", time("2026-03-04T16:20:11Z")),
  started_at: only("v2", time("2026-03-04T16:20:14Z")),
  completed_at: time("2026-03-04T16:24:50Z"),
  download_url: optional(url("https://kiln.example.org/download/4f1c…/Reading_room.x86_64-0.0.2.oem.tar.gz")),
};

const step = fields({ name: text("Installing%20software"), time: int(96), percent: int(35) });

export const builds = document("Builds", "builds", arrayOf("build", fields(facts)));
export const build = document(
  "Build",
  "build",
  fields({
    ...facts,
    log: only("v2", fields({ build: text("The build has begun."), kiwi: text("Reading the description") })),
    profile: only("v2", fields({ steps: arrayOf("step", step) })),
  }),
);
