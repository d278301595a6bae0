import { checkRun, checkRuns } from "#documents/check-run";
import { checkRunsOf, requestChecks } from "#domain/checks/request";
import { call, type CallGroup } from "#api/call";
import { v2 } from "#api/operation";

const ids = { build_id: "invalid_build_id" } as const;

export const checks: CallGroup = {
  title: "Checks",
  about:
    "A builder agent boots an image, and checks what its appliance demands (`checks` in the configuration). It does so " +
    "after each build, and on request.",
  operations: [
    call("GET /builds/{build_id}/checks", {
      name: "listCheckRuns",
      access: "own",
      versions: v2,
      summary: "The last five runs of the checks on an image, newest first",
      ids,
      answer: checkRuns,
      act: ({ env, db, account }, { build_id: buildId }) => checkRunsOf({ env, db }, account.id, buildId),
    }),
    call("POST /builds/{build_id}/checks", {
      name: "runChecks",
      access: "own",
      versions: v2,
      rate: "testdrives",
      summary: "Run the checks of the appliance on an image",
      details:
        "If a run is in progress, the answer is that one. Until a builder agent is free, the run waits. Its state is then " +
        "passed, failed, or error if it could not be done.",
      ids,
      answer: checkRun,
      refuses: ["build_not_found"],
      act: ({ env, db, account, requestId }, { build_id: buildId }) =>
        requestChecks({ env, db }, account.id, { buildId, requestId }),
    }),
  ],
};
