import type { WatchedBuild } from "#domain/builds/build";
import { JsonOnly, type XmlFields } from "#xml/write";

/** The element `running_build` (wire.md §2.11); a command line client reads `version` too. Ours: the place in the queue. */
export const runningBuildFields = (build: WatchedBuild): XmlFields => ({
  id: build.id,
  state: build.state,
  percent: build.percent,
  time_elapsed: build.secondsElapsed,
  message: build.message,
  version: build.version,
  image_type: build.imageType,
  queue_position: build.queuePosition === undefined ? undefined : new JsonOnly(build.queuePosition),
});
