import { ListRequest } from "#api/builds";
import { both, xml, type Group } from "#openapi/operation";
import { build, builds as buildsDocument } from "#openapi/shapes/build";
import { success } from "#openapi/shapes/general";

export const builds: Group = {
  title: "Finished builds",
  about: "What was built. Its download_url works without credentials, with ranges and an ETag.",
  operations: [
    {
      name: "listBuilds",
      method: "GET",
      path: "/builds",
      versions: both,
      summary: "Builds of an appliance, the newest first",
      params: ListRequest,
      answer: xml(buildsDocument),
      refusals: ["missing_appliance_id", "invalid_appliance_id"],
    },
    {
      name: "getBuild",
      method: "GET",
      path: "/builds/{build_id}",
      versions: both,
      summary: "One build; on v2 with its log and where its time went",
      answer: xml(build),
      unknown: ["invalid_build_id"],
    },
    {
      name: "deleteBuild",
      method: "DELETE",
      path: "/builds/{build_id}",
      versions: both,
      summary: "Delete a build with its image",
      answer: xml(success),
      unknown: ["invalid_build_id"],
      refusals: ["cannot_delete_published_build"],
    },
  ],
};
