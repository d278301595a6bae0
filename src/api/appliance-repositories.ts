import { z } from "zod";
import { repositories, wantedRepositories } from "#documents/repository";
import { dropRepository, setRepositories, useRepository, useUserRepository } from "#domain/repositories/of-appliance";
import { listApplianceRepositories } from "#storage/appliances";
import { byMethod, call, type CallGroup } from "#api/call";
import { ofOwn, ofReadable } from "#api/of-appliance";
import { id, parseParams } from "#http/params";

const OneRepository = z.object({ repo_id: id("invalid_repository_id") });

const list = { ...ofOwn, rate: "software", answer: repositories } as const;
const withOne = { ...list, params: OneRepository, refuses: ["missing_parameter", "invalid_repository_id"] } as const;

const removal = call("POST /appliances/{appliance_id}/cmd/remove_repository", {
  name: "removeApplianceRepository",
  ...withOne,
  summary: "Remove a repository",
  act: ({ db, account }, { found, repo_id }) => dropRepository(db, account, found, repo_id),
});

export const applianceRepositories: CallGroup = {
  title: "Repositories of an appliance",
  about: "Where the software of an appliance comes from. Every change returns the new list.",
  operations: [
    call("GET /appliances/{appliance_id}/repositories", {
      name: "listApplianceRepositories",
      ...ofReadable,
      summary: "The repositories of an appliance",
      answer: repositories,
      act: ({ db }, { found: { id } }) => listApplianceRepositories(db, id),
    }),
    call("PUT /appliances/{appliance_id}/repositories", {
      name: "replaceApplianceRepositories",
      ...list,
      summary: "Replace the repositories of an appliance",
      details: "Only the ids are used, so you can send back the answer of GET.",
      takes: wantedRepositories,
      refuses: ["invalid_xml", "invalid_node", "invalid_value", "invalid_repository_id"],
      act: async ({ db, account }, { found, body }) => {
        const ids = (await body()).map((repo_id) => parseParams(OneRepository, { repo_id }).repo_id);
        return await setRepositories(db, account, found, ids);
      },
    }),
    call("POST /appliances/{appliance_id}/cmd/add_repository", {
      name: "addApplianceRepository",
      ...withOne,
      summary: "Add a repository; if the appliance has it already, nothing changes",
      act: ({ db, account }, { found, repo_id }) => useRepository(db, account, found, repo_id),
    }),
    removal,
    byMethod("DELETE", removal), // compatibility.md, "Repositories"
    call("POST /appliances/{appliance_id}/cmd/add_user_repository", {
      name: "addUserRepository",
      ...list,
      summary: "Add your user repository, which has your uploads for the appliance's base system",
      refuses: ["user_repository_not_found"],
      act: ({ db, account }, { found }) => useUserRepository(db, account, found),
    }),
  ],
};
