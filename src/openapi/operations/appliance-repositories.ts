import { OneRepository } from "#api/appliances/repositories";
import { both, xml, type Group, type Operation } from "#openapi/operation";
import { repositories, wantedRepositories } from "#openapi/shapes/repository";

const removal = {
  path: "/appliances/{appliance_id}/cmd/remove_repository",
  versions: both,
  summary: "Take a repository away",
  params: OneRepository,
  answer: xml(repositories),
  unknown: ["invalid_appliance_id"],
  refusals: ["missing_parameter", "invalid_repository_id"],
} satisfies Partial<Operation>;

export const applianceRepositories: Group = {
  title: "Repositories of an appliance",
  about: "Where an appliance takes its software from. Every change answers the list as it is then.",
  operations: [
    {
      name: "listApplianceRepositories",
      method: "GET",
      path: "/appliances/{appliance_id}/repositories",
      versions: both,
      summary: "The appliance's repositories",
      answer: xml(repositories),
      unknown: ["invalid_appliance_id"],
    },
    {
      name: "replaceApplianceRepositories",
      method: "PUT",
      path: "/appliances/{appliance_id}/repositories",
      versions: both,
      summary: "Replace them",
      details: "Only the ids count, so that the answer of GET can be sent back.",
      body: { kind: "document", document: wantedRepositories },
      answer: xml(repositories),
      unknown: ["invalid_appliance_id"],
      refusals: ["invalid_xml", "invalid_node", "invalid_repository_id"],
    },
    {
      name: "addApplianceRepository",
      method: "POST",
      path: "/appliances/{appliance_id}/cmd/add_repository",
      versions: both,
      summary: "Add a repository; one that is there already stays",
      params: OneRepository,
      answer: xml(repositories),
      unknown: ["invalid_appliance_id"],
      refusals: ["missing_parameter", "invalid_repository_id"],
    },
    { name: "removeApplianceRepository", method: "POST", ...removal },
    { name: "removeApplianceRepositoryByDelete", method: "DELETE", ...removal, deprecated: true },
    {
      name: "addUserRepository",
      method: "POST",
      path: "/appliances/{appliance_id}/cmd/add_user_repository",
      versions: both,
      summary: "Add the repository of your own uploads for the appliance's base system",
      answer: xml(repositories),
      unknown: ["invalid_appliance_id"],
      refusals: ["user_repository_not_found"],
    },
  ],
};
