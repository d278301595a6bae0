import { z } from "zod";
import { removeRepository } from "#domain/repositories/deletion";
import { filterRepositories, getRepository, importForAccount, listRepositories } from "#domain/repositories/repository";
import { factory } from "#api/factory";
import { parseParams, pathId, readParams, text } from "#api/params";
import { success, xml } from "#api/respond";
import { v2Only } from "#api/v2-only";
import { filteredFields, repositoriesFields, repositoryFields } from "#api/views/repository";

export const ListRequest = z.object({ base_system: z.string().optional(), filter: text().optional() });
export const ImportRequest = z.object({ url: z.string({ error: "missing_url" }), name: text("missing_name") });

export const repositories = factory
  .createApp()
  .get("/repositories", async (c) => {
    const { base_system: baseSystem, filter } = parseParams(ListRequest, await readParams(c));
    const all = await listRepositories(c.var.db, c.var.account.id, { baseSystem });
    if (filter === undefined) return xml(c, "repositories", repositoriesFields(all, c.var));
    const found = await filterRepositories(c.var.db, all, { filter, baseUrl: c.var.baseUrl });
    return xml(c, "repositories", filteredFields(found, c.var));
  })
  .post("/repositories", async (c) => {
    const request = { ...parseParams(ImportRequest, await readParams(c)), requestId: c.var.requestId };

    const repository = await importForAccount(c.env, c.var.db, c.var.account.id, request);

    return xml(c, "repository", repositoryFields(repository, c.var));
  })
  .get("/repositories/:id", async (c) => {
    const id = pathId(c, "id", "invalid_repository_id");
    const repository = await getRepository(c.var.db, c.var.account.id, id, "path");
    return xml(c, "repository", repositoryFields(repository, c.var));
  })
  .delete("/repositories/:id", v2Only, async (c) => {
    await removeRepository(c.var.db, c.var.account.id, pathId(c, "id", "invalid_repository_id"));
    return success(c);
  });
