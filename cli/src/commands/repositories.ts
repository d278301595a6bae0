import { command, value } from "../command.ts";
import { table } from "../output/table.ts";
import { applianceId, repositoryId } from "../resolve.ts";

type Row = { id: number; name: string; type: string; base_system: string; base_url?: string };

const headings = ["ID", "NAME", "TYPE", "BASE", "URL"];
const rowOf = ({ id, name, type, base_system: base, base_url: url }: Row) => [id, name, type, base, url];

export const repositories = [
  command("repo list <appliance>", {
    tool: "reads",
    summary: "List the repositories of an appliance",
    act: async ({ client, show, paint }, { appliance }) => {
      const answer = await client.call("listApplianceRepositories", {
        appliance_id: await applianceId(client, appliance),
      });
      show(answer, () => table(paint, headings, answer.repositories.map(rowOf)));
    },
  }),
  command("repo search [text]", {
    tool: "reads",
    summary: "Find repositories by their name, address or packages",
    options: { base: value("base", "only those of this base system") },
    act: async ({ client, show, paint }, { text, base }) => {
      const answer = await client.call("listRepositories", { filter: text, base_system: base });
      show(answer, () => table(paint, headings, answer.repositories.map(rowOf)));
    },
  }),
  command("repo add <appliance> <repository>", {
    tool: "writes",
    summary: "Add a repository to an appliance",
    act: async ({ client, show, paint }, { appliance, repository }) => {
      const answer = await client.call("addApplianceRepository", {
        appliance_id: await applianceId(client, appliance),
        repo_id: await repositoryId(client, repository),
      });
      show(answer, () => table(paint, headings, answer.repositories.map(rowOf)));
    },
  }),
  command("repo remove <appliance> <repository>", {
    tool: "writes",
    summary: "Remove a repository from an appliance",
    act: async ({ client, show, paint }, { appliance, repository }) => {
      const id = await applianceId(client, appliance);
      const repo = await repositoryId(client, repository, String(id));
      const answer = await client.call("removeApplianceRepository", { appliance_id: id, repo_id: repo });
      show(answer, () => table(paint, headings, answer.repositories.map(rowOf)));
    },
  }),
  command("repo import <name> <url>", {
    tool: "writes",
    summary: "Import a repository of rpm or deb packages",
    details: "For a Debian repository, the URL names a suite, then # and the components that you want.",
    examples: ["kiln repo import webdemo https://example.org/repo"],
    act: async ({ client, show }, { name, url }) => {
      const answer = await client.call("importRepository", { name, url });
      const { id } = answer.repository;
      show(answer, () => `${name} is repository ${id}. Add it: kiln repo add APPLIANCE ${id}`);
    },
  }),
  command("repo delete <repository>", {
    summary: "Delete a repository that you imported and no appliance uses",
    act: async ({ client, show }, { repository }) => {
      const answer = await client.call("deleteRepository", { repository_id: await repositoryId(client, repository) });
      show(answer, () => `Deleted repository ${repository}.`);
    },
  }),
];
