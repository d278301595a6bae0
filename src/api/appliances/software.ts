import type { Context } from "hono";
import { z } from "zod";
import { getAppliance, getOwnAppliance } from "#domain/appliance";
import { deselect, select, type SoftwareKind } from "#domain/software";
import { listSelection } from "#storage/appliances";
import { factory, type ApiEnv } from "#api/factory";
import { id, parseParams, pathId, readParams, text } from "#api/params";
import { xml } from "#api/respond";
import { selectionChangeFields, softwareFields } from "#api/views/software";

const Named = z.object({ name: text() });
const Pinned = Named.extend({ version: z.string().optional(), repository_id: id("invalid_repository_id").optional() });

export const software = factory
  .createApp()
  .get("/appliances/:id/software", async (c) => {
    const appliance = await getAppliance(c.var.db, c.var.account.id, pathId(c, "id", "invalid_appliance_id"), "path");
    return xml(c, "software", softwareFields(appliance.id, await listSelection(c.var.db, appliance.id)));
  })
  .post("/appliances/:id/cmd/add_package", (c) => add(c, "package"))
  .post("/appliances/:id/cmd/add_pattern", (c) => add(c, "pattern"))
  // One client sends DELETE to the remove commands; accepting it harms nobody (wire.md §5.2).
  .on(["POST", "DELETE"], "/appliances/:id/cmd/remove_package", (c) => remove(c, "package"))
  .on(["POST", "DELETE"], "/appliances/:id/cmd/remove_pattern", (c) => remove(c, "pattern"));

async function add(c: Context<ApiEnv>, kind: SoftwareKind): Promise<Response> {
  const appliance = await ownAppliance(c);
  const { name, version, repository_id: repositoryId } = parseParams(Pinned, await readParams(c));

  const change = await select(c.var.db, appliance, { kind, name, version, repositoryId });

  return xml(c, "success", selectionChangeFields(change));
}

async function remove(c: Context<ApiEnv>, kind: SoftwareKind): Promise<Response> {
  const appliance = await ownAppliance(c);
  const { name } = parseParams(Named, await readParams(c));

  const change = await deselect(c.var.db, appliance, { kind, name });

  return xml(c, "success", selectionChangeFields(change));
}

const ownAppliance = (c: Context<ApiEnv>) =>
  getOwnAppliance(c.var.db, c.var.account.id, pathId(c, "id", "invalid_appliance_id"), "path");
