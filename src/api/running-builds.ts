import { z } from "zod";
import { onlyAppliance } from "#domain/accounts/access";
import { stillOpens } from "#domain/accounts/tokens";
import { imageTypes } from "#lib/contract/index";
import { cancelBuild, watchAllBuilds, watchBuild, watchBuilds } from "#domain/builds/build";
import { startBuild } from "#domain/builds/start";
import { runningBuild, runningBuilds as runningBuildsDocument, startedBuild } from "#documents/running-build";
import { success } from "#documents/success";
import { readLog } from "#api/build-log";
import { call, file, type CallGroup } from "#api/call";
import { v2 } from "#api/operation";
import { choice, flag, id } from "#http/params";

const ListRequest = z.object({ appliance_id: id("invalid_appliance_id", "missing_appliance_id") });
const StartRequest = ListRequest.extend({
  force: flag.default(false),
  version: z.string().optional(),
  image_type: choice(imageTypes).optional(),
  multi: flag.default(false),
});

const ids = { build_id: "invalid_running_build_id" } as const;

export const runningBuilds: CallGroup = {
  title: "Running builds",
  about: "A build keeps its id when it is finished, and these calls still answer then.",
  operations: [
    call("GET /running_builds", {
      name: "listRunningBuilds",
      access: "readable",
      summary: "Builds of an appliance that are waiting or running",
      params: ListRequest,
      answer: runningBuildsDocument,
      refuses: ["missing_appliance_id", "invalid_appliance_id"],
      act: ({ env, db, account }, { appliance_id }) => watchBuilds({ env, db }, account.id, appliance_id),
    }),
    call("GET /account/running_builds", {
      name: "listAllRunningBuilds",
      access: "own",
      isForAll: true,
      versions: v2,
      summary: "All your builds that are waiting or running, the oldest first",
      answer: runningBuildsDocument,
      act: ({ env, db, account, access }) => watchAllBuilds({ env, db }, account.id, onlyAppliance(access)),
    }),
    call("POST /running_builds", {
      name: "startBuild",
      access: "own",
      rate: "builds",
      summary: "Start a build",
      params: StartRequest,
      about: {
        version:
          "Version to build. Default: the version of the configuration; with `multi`, the version of the last build.",
      },
      answer: startedBuild,
      refuses: [
        "missing_appliance_id",
        "invalid_appliance_id",
        "invalid_image_type",
        "invalid_version",
        "invalid_value",
        "image_already_exists",
        "image_is_locked",
        "initial_build_pending",
        "configuration_error",
        "invalid_architecture",
        "sle_agreement_missing",
        "no_build_slots",
      ],
      act: (
        { env, db, account, version, baseUrl, requestId },
        { appliance_id: applianceId, image_type: imageType, ...request },
      ) =>
        startBuild({ env, db }, account, {
          applianceId,
          imageType,
          version: request.version,
          force: request.force,
          multi: request.multi,
          allowedTypes: version.imageTypes,
          baseUrl,
          requestId,
        }),
    }),
    call("GET /running_builds/{build_id}", {
      name: "getRunningBuild",
      access: "own",
      summary: "The progress of a build",
      ids,
      answer: runningBuild,
      act: ({ env, db, account }, { build_id }) => watchBuild({ env, db }, account.id, build_id),
    }),
    call("DELETE /running_builds/{build_id}", {
      name: "cancelBuild",
      access: "own",
      summary: "Cancel a build",
      ids,
      answer: success,
      act: ({ env, db, account }, { build_id }) => cancelBuild({ env, db }, account.id, build_id),
    }),
    call("GET /running_builds/{build_id}/log", {
      name: "getBuildLog",
      access: "own",
      summary: "The log of a build, as text or as events",
      details:
        "With `Accept: text/event-stream`, a stream of server-sent events: `log` (lines, with their offset as id), `progress` " +
        "(JSON: state, percent, time_elapsed, message, time_left while it runs, queue_position while it waits) and `end`. `Last-Event-ID` resumes it.",
      ids,
      answer: file("The log so far.", "text/plain", "text/event-stream"),
      act: ({ env, db, account, access }, { build_id: buildId }, c) =>
        readLog({ env, db }, { account, buildId, stillOpens: () => stillOpens(db, access) }, c.req),
    }),
  ],
};
