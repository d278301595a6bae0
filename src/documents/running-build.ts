import { imageTypes } from "#lib/contract/index";
import { arrayOf, fields, id, int, oneOf, text, version } from "#lib/wire/field";
import { document } from "#lib/wire/shape";

/** The element `running_build` (compatibility.md, "Running builds"); a command line client reads `version` too. */
export const watchedBuild = fields({
  id: id("id", 32),
  state: oneOf("state", ["running", "queued", "finished", "failed", "error", "cancelled"]),
  percent: int("percent", 40),
  time_elapsed: int("secondsElapsed", 96),
  message: text("message", "Installing software (12/48) busybox"),
  version: version("version", "0.0.3"),
  image_type: oneOf("imageType", imageTypes, "oem"),
  queue_position: int("queuePosition", 3).inJson(),
  time_left: int("secondsLeft", 140).inJson(),
  appliance_id: id("applianceId", 1004).inJson(),
});

export const runningBuild = document("RunningBuild", "running_build", watchedBuild);
export const runningBuilds = document("RunningBuilds", "running_builds", arrayOf("running_build", watchedBuild));
/** Clients read only its root and its first child `id`. */
export const startedBuild = document("StartedBuild", "build", watchedBuild);
