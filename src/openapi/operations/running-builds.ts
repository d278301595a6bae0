import { ListRequest, StartRequest } from "#api/running-builds";
import { both, xml, type Group } from "#openapi/operation";
import { runningBuild, runningBuilds as runningBuildsDocument, startedBuild } from "#openapi/shapes/build";
import { success } from "#openapi/shapes/general";

export const runningBuilds: Group = {
  title: "Running builds",
  about: "The id of a running build is the id of the finished one. It keeps answering here when it is over.",
  operations: [
    {
      name: "listRunningBuilds",
      method: "GET",
      path: "/running_builds",
      versions: both,
      summary: "Builds of an appliance that wait or run",
      params: ListRequest,
      answer: xml(runningBuildsDocument),
      refusals: ["missing_appliance_id", "invalid_appliance_id"],
    },
    {
      name: "startBuild",
      method: "POST",
      path: "/running_builds",
      versions: both,
      summary: "Start a build",
      params: StartRequest,
      about: { version: "Version to build; the configuration's when left out, with multi that of the latest build." },
      answer: xml(startedBuild),
      refusals: [
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
    },
    {
      name: "getRunningBuild",
      method: "GET",
      path: "/running_builds/{build_id}",
      versions: both,
      summary: "How far it is",
      answer: xml(runningBuild),
      unknown: ["invalid_running_build_id"],
    },
    {
      name: "cancelBuild",
      method: "DELETE",
      path: "/running_builds/{build_id}",
      versions: both,
      summary: "Cancel it",
      answer: xml(success),
      unknown: ["invalid_running_build_id"],
    },
    {
      name: "getBuildLog",
      method: "GET",
      path: "/running_builds/{build_id}/log",
      versions: both,
      summary: "Its log, as text or as events",
      details:
        "With Accept: text/event-stream the answer is a stream of server-sent events: log (lines, with their offset as id), " +
        "progress (JSON: state, percent, time_elapsed, message, and queue_position while it waits) and end. Last-Event-ID resumes it.",
      answer: { kind: "file", types: ["text/plain", "text/event-stream"], what: "The log so far." },
      unknown: ["invalid_running_build_id"],
    },
  ],
};
