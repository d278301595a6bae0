import type * as imageUpdates from "#storage/image-updates";
import type * as watches from "#storage/watches";
import type { Calls } from "./calls.ts";
import { announcement, at, ids } from "./rows.ts";

const it = ids.appliance;
const decided = { at, from: "0.0.1", contents: "contents", editedAt: at, message: "" };
const watch = {
  applianceId: it,
  lookAt: at,
  automaticState: null,
  automaticFrom: null,
  automaticVersion: null,
  automaticBuilds: [],
  automaticContents: null,
  automaticMessage: "",
  automaticAt: null,
  automaticEditedAt: null,
  automaticPublication: null,
};

export const ofUpdates = {
  "image-updates": {
    saveCounts: [[{ id: 1 }, { contents: "contents", updates: [], lookedAt: 1 }]],
    listImageUpdates: [[[1, 2]]],
    saveDecision: [
      [
        { buildId: 1, announcedAt: null },
        { contents: "contents", announced: { at, newer: 1, security: [], announcement } },
      ],
      [
        { buildId: 1, announcedAt: null },
        { contents: "contents", announced: undefined },
      ],
    ],
    forgetOtherUpdates: [[it, [1]]],
  } satisfies Calls<typeof imageUpdates>,
  watches: {
    takeDueWatches: [[{ now: at, again: at, limit: 10 }]],
    saveNextLook: [[watch, at]],
    findWatch: [[it]],
    lookBy: [[it, at]],
    beginAutomaticBuild: [[watch, { ...decided, version: "0.0.2", builds: [], publication: "publication" }]],
    refuseAutomaticBuild: [[watch, decided]],
    endAutomaticBuild: [[watch, { state: "done", message: "" }]],
  } satisfies Calls<typeof watches>,
};
