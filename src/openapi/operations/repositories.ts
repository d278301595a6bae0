import { ImportRequest, ListRequest } from "#api/repositories";
import { both, v2, xml, type Group } from "#openapi/operation";
import { success } from "#openapi/shapes/general";
import { foundRepositories, repository } from "#openapi/shapes/repository";

export const repositories: Group = {
  title: "Repositories",
  about:
    "Repositories of the service's distributions, which everybody sees, and those that you imported, which you see alone.",
  operations: [
    {
      name: "listRepositories",
      method: "GET",
      path: "/repositories",
      versions: both,
      summary: "All repositories that you can see",
      params: ListRequest,
      answer: xml(foundRepositories),
      refusals: ["invalid_base_system", "invalid_value"],
    },
    {
      name: "importRepository",
      method: "POST",
      path: "/repositories",
      versions: both,
      summary: "Import an rpm-md or yast2 repository",
      params: ImportRequest,
      about: { url: "Base address of the repository, by http or https.", name: "What to call it." },
      answer: xml(repository),
      refusals: ["missing_url", "missing_name", "invalid_value", "repository_already_exists", "download_error"],
    },
    {
      name: "getRepository",
      method: "GET",
      path: "/repositories/{repository_id}",
      versions: both,
      summary: "One repository",
      answer: xml(repository),
      unknown: ["invalid_repository_id"],
    },
    {
      name: "deleteRepository",
      method: "DELETE",
      path: "/repositories/{repository_id}",
      versions: v2,
      summary: "Delete a repository that you imported and that no appliance uses",
      details: "Builds that were started before keep the packages that they froze.",
      answer: xml(success),
      unknown: ["invalid_repository_id"],
      refusals: ["access_denied", "unknown_error"],
    },
  ],
};
