import { imageTypes } from "#lib/contract/index";
import { use } from "#documents/image-use";
import type { BuildTexts } from "#domain/builds/log";
import type { Build } from "#storage/builds";
import {
  arrayOf,
  bool,
  digest,
  fields,
  group,
  id,
  inside,
  int,
  oneOf,
  text,
  through,
  time,
  url,
  version,
} from "#lib/wire/field";
import { document, type Viewer } from "#lib/wire/shape";

/** Whole mebibytes, as all sizes of builds are shown. */
export const megabytes = (bytes: number | null): number => Math.round((bytes ?? 0) / 1024 ** 2);

const isFinished = ({ status }: Pick<Build, "status">) => status === "finished";

const checksum = fields({
  md5: digest(({ md5 }: Pick<Build, "md5">) => md5 ?? "", "7b1f3a0c5d9e4e0f8a2b6c1d3e5f7a90"),
  sha1: digest(({ sha1 }: Pick<Build, "sha1">) => sha1 ?? "", "0e6b7d2f4a1c3958b7d6e5f4a3b2c1d0e9f8a7b6"),
});

export const compressedSize = int(
  ({ compressed, fileSize }: Pick<Build, "compressed" | "fileSize">) => (compressed ? megabytes(fileSize) : 0),
  118,
);

/** The URL of the image. It works without credentials. */
export const downloadUrl = url(
  ({ downloadToken, fileName }: Pick<Build, "downloadToken" | "fileName">, { baseUrl }: Viewer) =>
    `${baseUrl}/download/${downloadToken}/${fileName}`,
  "https://kiln.example.org/download/4f1c…/Reading_room.x86_64-0.0.2.oem.tar.gz",
);

export const buildState = oneOf("status", ["finished", "failed", "error", "cancelled", "queued", "running"]);

/**
 * The element `build` of the finished builds (compatibility.md, "Finished builds"): `image_type` comes before
 * `download_url`.
 */
const facts = {
  id: id("id", 31),
  version: version("version", "0.0.2"),
  state: buildState,
  expired: bool(({ expiredAt }: Build) => expiredAt !== null, false),
  image_type: oneOf("imageType", imageTypes),
  checksum: group(checksum).when(isFinished),
  size: int(({ rawSize }: Build) => megabytes(rawSize), 412),
  compressed_image_size: compressedSize,
  created_at: time("createdAt", "2026-03-04T16:20:11Z").only("v2"),
  // A cancelled build may never have started; clients need a time anyway.
  started_at: time(
    ({ startedAt, completedAt, createdAt }: Build) => startedAt ?? completedAt ?? createdAt,
    "2026-03-04T16:20:14Z",
  ).only("v2"),
  completed_at: time(({ completedAt, createdAt }: Build) => completedAt ?? createdAt, "2026-03-04T16:24:50Z"),
  download_url: downloadUrl.when(isFinished),
};

const log = fields({
  build: text("own", "The build has begun."),
  kiwi: text("kiwi", "Reading the description"),
});

const step = fields({
  name: text("name", "Installing%20software"),
  time: int("seconds", 96),
  percent: int("percent", 35),
});

export const builds = document("Builds", "builds", arrayOf("build", fields(facts)));

/** One build. On v2, with its log and the time that each step took. */
export const build = document(
  "Build",
  "build",
  fields({
    ...through("build", facts),
    log: inside("texts", log).only("v2"),
    profile: group(fields({ steps: inside(stepsOf, arrayOf("step", step)) })).only("v2"),
    ...through("build", { use: use.inJson() }),
  }),
);

function stepsOf({ build: { steps } }: { build: Build; texts: BuildTexts }) {
  const total = (steps ?? []).reduce((sum, { seconds }) => sum + seconds, 0);
  return (steps ?? []).map(({ phase, seconds }) => ({
    name: encodeURIComponent(phase),
    seconds: Math.round(seconds),
    percent: total === 0 ? 0 : Math.round((100 * seconds) / total),
  }));
}
