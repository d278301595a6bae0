import { rebuild, rebuilds as rebuildsDocument } from "#documents/rebuild";
import { success } from "#documents/success";
import { cancelRebuildOf, rebuildsOf, requestRebuild } from "#domain/builds/rebuild";
import { call, type CallGroup } from "#api/call";
import { v2 } from "#api/operation";

const ids = { build_id: "invalid_build_id" } as const;

export const rebuilds: CallGroup = {
  title: "Rebuilds",
  about:
    "A builder agent builds what an image was made of once more, and compares the new image with it. The new image is not " +
    "stored.",
  operations: [
    call("GET /builds/{build_id}/rebuilds", {
      name: "listRebuilds",
      access: "readable",
      versions: v2,
      summary: "The last five rebuilds of a build, newest first",
      ids,
      answer: rebuildsDocument,
      act: ({ db, account, access }, { build_id: buildId }) => rebuildsOf(db, { account, access }, buildId),
    }),
    call("POST /builds/{build_id}/rebuilds", {
      name: "startRebuild",
      access: "own",
      versions: v2,
      rate: "builds",
      summary: "Build the input of a build again, and compare the images",
      details:
        "If a rebuild is in progress, the answer is that one. It takes a build slot, and waits until no build does. Its state " +
        "is then same, differs, or failed if there is no image to compare. An account may start 100 in a day.",
      ids,
      answer: rebuild,
      refuses: ["build_not_found", "no_build_slots", "unknown_error"],
      act: ({ env, db, account, requestId }, { build_id: buildId }) =>
        requestRebuild({ env, db }, account.id, { buildId, requestId }),
    }),
    call("DELETE /builds/{build_id}/rebuilds", {
      name: "cancelRebuild",
      access: "own",
      versions: v2,
      summary: "Cancel the rebuild in progress, if there is one",
      ids,
      answer: success,
      act: ({ env, db, account }, { build_id: buildId }) => cancelRebuildOf({ env, db }, account.id, buildId),
    }),
  ],
};
