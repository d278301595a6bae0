import { arches, imageTypes } from "#lib/contract/index";
import type { Glance, Overview } from "#domain/appliances/overview";
import {
  arrayOf,
  fields,
  id,
  inside,
  int,
  marked,
  oneOf,
  repeated,
  text,
  through,
  time,
  url,
  version,
} from "#lib/wire/field";
import { document, type Viewer } from "#lib/wire/shape";
import { watchedBuild } from "#documents/running-build";
import { advisoryCounts } from "#documents/build-advisories";
import { buildState, megabytes } from "#documents/build";

type OverviewBuild = NonNullable<Glance["lastBuild"]>;

const overBuild = fields({
  id: id("id", 31),
  version: version("version", "0.0.2"),
  image_type: oneOf("imageType", imageTypes, "oem"),
  state: buildState,
  message: text("message", "Finished"),
  size: int(({ fileSize }: OverviewBuild) => megabytes(fileSize), 118),
  completed_at: time("completedAt", "2026-03-04T16:24:50Z").optional(),
});

const glance = fields({
  ...through("appliance", {
    id: id("id", 1004),
    name: text("name", "Reading room"),
    arch: oneOf("arch", arches),
    type: oneOf("imageType", imageTypes, "oem"),
    basesystem: text("baseSystem", "tiny-1.0"),
    version: version("version", "0.0.3"),
    last_edited: time("lastEditedAt", "2026-03-04T16:20:11Z"),
    logo_url: url(
      ({ id }: Glance["appliance"], { baseUrl }: Viewer) =>
        `${baseUrl}/api/v2/user/appliances/${id}/configuration/logo`,
      "https://kiln.example.org/api/v2/user/appliances/1004/configuration/logo",
    ).when(({ logoBlob }: Glance["appliance"]) => logoBlob !== null),
  }),
  state: oneOf("state", ["ok", "warning", "error", "building", "waiting", "unknown"]),
  errors: int("errors", 0),
  warnings: int("warnings", 0),
  text: text("text", "").unlessEmpty(),
  running_builds: inside("running", arrayOf("running_build", watchedBuild)),
  last_build: inside("lastBuild", overBuild).optional(),
  images: inside("images", arrayOf("build", overBuild)),
  outdated: inside(
    "outdated",
    fields({
      newer: int("newer", 3),
      security: int("security", 1),
      looked_at: time("lookedAt", "2026-03-04T16:30:00Z"),
    }),
  ).optional(),
  advisories: inside("advisories", fields(advisoryCounts)).optional(),
});

/** A page of appliances, each with its current activity and its problems. `count` is the number on all pages. */
export const overview = document(
  "Overview",
  "overview",
  marked(
    { count: int(({ total }: Overview) => total, 1) },
    fields({ pages: int("pages", 1), current_page: int("page", 1), appliance: repeated("glances", glance) }),
  ),
);
