import { expect, it } from "vitest";
import { Build } from "#objects/build";
import { Events } from "#objects/events";
import { ImageLog } from "#objects/image-log";
import { Mailbox } from "#objects/mailbox";
import { Switchboard } from "#objects/switchboard";
import { Testdrive } from "#objects/testdrive";
import { UserRepositoryIndex } from "#objects/user-repository-index";

const classes = { Build, Events, ImageLog, Mailbox, Switchboard, Testdrive, UserRepositoryIndex };

type Calls<Class extends abstract new (...given: never[]) => object> = readonly (keyof InstanceType<Class>)[];

/**
 * The calls that Workers make to objects. For some minutes after a deploy, either side may run the previous release. So
 * a call is removed one release after its last caller. A new call has a caller that continues if the object does not
 * have it.
 */
const calls: { readonly [Name in keyof typeof classes]: Calls<(typeof classes)[Name]> } = {
  Build: [
    "agentRemoved",
    "appendLog",
    "cancel",
    "checkAttempt",
    "claim",
    "completeUpload",
    "endLease",
    "expectPart",
    "fail",
    "finish",
    "forget",
    "heartbeat",
    "notHandedOut",
    "openUpload",
    "progress",
    "readLog",
    "recordPart",
    "release",
    "stateRebuilt",
    "wake",
  ],
  Events: ["announce", "forget", "forgetWebhook", "hangUp", "latest", "listDeliveries", "replay"],
  ImageLog: ["append"],
  Mailbox: ["acknowledge", "pull", "put"],
  Switchboard: [
    "abilities",
    "cancel",
    "connected",
    "hangUp",
    "heard",
    "recognizes",
    "remember",
    "reports",
    "setDrained",
    "wake",
  ],
  Testdrive: [
    "agentRemoved",
    "bootedBuild",
    "claim",
    "endOfAgent",
    "heldBuild",
    "look",
    "prepare",
    "start",
    "stop",
    "wake",
  ],
  UserRepositoryIndex: ["publish"],
};

/** The methods that the platform calls. */
const ofPlatform = /^(?:constructor|alarm|fetch|webSocket\w+)$/;

it.each(Object.entries(classes))("%s has the calls of the release before, and no others", (name, { prototype }) => {
  const has = Object.getOwnPropertyNames(prototype).filter((method) => !ofPlatform.test(method));
  expect(has.toSorted()).toEqual([...calls[name as keyof typeof classes]].toSorted());
});
