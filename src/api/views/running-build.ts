import type { WatchedBuild } from "#domain/build";
import type { XmlFields } from "#xml/write";

/** The element `running_build` (wire.md §2.11); a command line client reads `version` too. */
export const runningBuildFields = (build: WatchedBuild): XmlFields => ({
  id: build.id,
  state: build.state,
  percent: build.percent,
  time_elapsed: build.secondsElapsed,
  message: build.message,
  version: build.version,
  image_type: build.imageType,
});
