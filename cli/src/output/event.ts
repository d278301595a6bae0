import type { AnswerOf } from "../client/client.ts";
import { count } from "./table.ts";

type EventName = AnswerOf<"listDeliveries">["deliveries"][number]["event"];

/** The data of an event (docs/api/events.md). It has only the subject of its name. */
export interface Announced {
  created_at: string;
  build: { id: number; name: string; version: string; image_type: string; message: string };
  testdrive: { id: number; build_id: number; message: string };
  version: { name: string; version: string };
  channel: { name: string; channel: string; version: string };
  image: {
    name: string;
    version: string;
    image_type: string;
    newer: number;
    security: number;
    fixed: number;
    exploited: number;
  };
}

type Words = (announced: Announced) => string;

const ofBuild: Words = ({ build: { id, name, image_type: type, version, message } }) =>
  `build ${id} of ${name} (${type}, ${version}): ${message}`;

const ofTestdrive: Words = ({ testdrive: { id, build_id: build, message } }) =>
  `testdrive ${id} of build ${build}: ${message}`;

const image = ({ name, image_type: type, version }: Announced["image"]): string => `${name} (${type}, ${version})`;

/** The text that people read about the subject of each event. */
export const eventWords: Readonly<Record<EventName, Words>> = {
  "build.queued": ofBuild,
  "build.started": ofBuild,
  "build.finished": ofBuild,
  "build.failed": ofBuild,
  "build.cancelled": ofBuild,
  "testdrive.started": ofTestdrive,
  "testdrive.ended": ofTestdrive,
  "version.published": ({ version: { name, version } }) => `${name} ${version}`,
  "channel.moved": ({ channel: { name, channel, version } }) => `${name}: ${channel} is ${version} now`,
  "image.outdated": ({ image: one }) =>
    `${image(one)}: ${count(one.newer, "newer package")}, ${count(one.security, "security update")}`,
  "image.affected": ({ image: one }) =>
    `${image(one)}: updates fix ${one.fixed} ${one.fixed === 1 ? "advisory" : "advisories"}, ${one.exploited} of them exploited`,
};

/** A newer service may send other events. Only their names are shown. */
export const wordsOf = (event: string, announced: Announced): string =>
  isKnown(event) ? eventWords[event](announced) : "";

const isKnown = (event: string): event is EventName => Object.hasOwn(eventWords, event);
