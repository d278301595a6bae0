import type { Context } from "hono";
import { z } from "zod";
import { getAppliance, getOwnAppliance } from "#domain/appliances/appliance";
import { Refusal } from "#domain/refusal";
import { dropRepository, setRepositories, useRepository, useUserRepository } from "#domain/repositories/of-appliance";
import { listApplianceRepositories } from "#storage/appliances";
import type { XmlNode } from "#wire/read-xml";
import { factory, type ApiEnv } from "#api/factory";
import { id, parseParams, pathId, readParams } from "#api/params";
import { xml } from "#api/respond";
import { repositoriesFields } from "#api/views/repository";
import { readXmlBody } from "#api/xml-body";

export const OneRepository = z.object({ repo_id: id("invalid_repository_id") });

/** The repositories that an appliance takes its software from. Every change answers the list as it is then. */
export const applianceRepositories = factory
  .createApp()
  .get("/appliances/:id/repositories", async (c) => {
    const appliance = await getAppliance(c.var.db, c.var.account.id, pathId(c, "id", "invalid_appliance_id"), "path");
    return await showList(c, appliance.id);
  })
  .put("/appliances/:id/repositories", async (c) => {
    const appliance = await ownAppliance(c);
    const ids = repositoryIds(await readXmlBody(c.req.raw));

    await setRepositories(c.var.db, c.var.account, appliance, ids);

    return await showList(c, appliance.id);
  })
  .post("/appliances/:id/cmd/add_repository", async (c) => {
    const appliance = await ownAppliance(c);
    const { repo_id: repositoryId } = parseParams(OneRepository, await readParams(c));

    await useRepository(c.var.db, c.var.account, appliance, repositoryId);

    return await showList(c, appliance.id);
  })
  // One client sends DELETE (wire.md §2.6).
  .on(["POST", "DELETE"], "/appliances/:id/cmd/remove_repository", async (c) => {
    const appliance = await ownAppliance(c);
    const { repo_id: repositoryId } = parseParams(OneRepository, await readParams(c));

    await dropRepository(c.var.db, c.var.account, appliance, repositoryId);

    return await showList(c, appliance.id);
  })
  .post("/appliances/:id/cmd/add_user_repository", async (c) => {
    const appliance = await ownAppliance(c);

    await useUserRepository(c.var.db, c.var.account, appliance);

    return await showList(c, appliance.id);
  });

async function showList(c: Context<ApiEnv>, applianceId: number): Promise<Response> {
  const repositories = await listApplianceRepositories(c.var.db, applianceId);
  return xml(c, "repositories", repositoriesFields(repositories, c.var));
}

const ownAppliance = (c: Context<ApiEnv>) =>
  getOwnAppliance(c.var.db, c.var.account.id, pathId(c, "id", "invalid_appliance_id"), "path");

/** Only the ids count, so that the answer of GET can be sent back. */
function repositoryIds(root: XmlNode): number[] {
  if (root.name !== "repositories") throw unknownNode(root.name);
  return root.children.map((child) => {
    if (child.name !== "repository") throw unknownNode(child.name);
    const [idNode, second] = child.children.filter(({ name }) => name === "id");
    if (!idNode || second) throw new Refusal("invalid_node", { message: "Each repository has exactly one id." });
    if (!/^[1-9]\d{0,14}$/.test(idNode.text)) throw new Refusal("invalid_repository_id");
    return Number(idNode.text);
  });
}

const unknownNode = (name: string) =>
  new Refusal("invalid_node", { message: `The list of repositories has no element ${name.slice(0, 100)}.` });
