/** The events of an account (docs/api/events.md). */
export const eventNames = [
  "build.queued",
  "build.started",
  "build.finished",
  "build.failed",
  "build.cancelled",
  "testdrive.started",
  "testdrive.ended",
  "version.published",
  "channel.moved",
  "image.outdated",
  "image.affected",
] as const;
export type EventName = (typeof eventNames)[number];
