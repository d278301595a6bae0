import type { Context } from "hono";
import { z } from "zod";
import { getAppliance, getOwnAppliance } from "#domain/appliances/appliance";
import { softwareOfBuild, softwareOfNextBuild } from "#domain/images/installed-software";
import { deselect, replaceSelection, select, type SoftwareKind } from "#domain/software/software";
import { listSelection, type Appliance } from "#storage/appliances";
import { selectionOf } from "#api/appliances/software-document";
import { factory, type ApiEnv } from "#api/factory";
import { id, parseParams, pathId, readParams, text } from "#api/params";
import { xml } from "#api/respond";
import { refuseUnlessMatch, validated } from "#api/revalidation";
import { selectionChangeFields, softwareFields, softwareMapFields } from "#api/views/software";
import { readXmlBody } from "#api/xml-body";

export const Named = z.object({ name: text() });
export const Pinned = Named.extend({
  version: z.string().optional(),
  repository_id: id("invalid_repository_id").optional(),
});
export const OfBuild = z.object({ build_id: id("invalid_build_id").optional() });

export const software = factory
  .createApp()
  .get("/appliances/:id/software", async (c) => showSelection(c, await readableAppliance(c)))
  .put("/appliances/:id/software", async (c) => {
    const appliance = await ownAppliance(c);
    const wanted = selectionOf(await readXmlBody(c.req.raw));
    const onlyUnchanged = c.req.header("if-match") !== undefined;
    if (onlyUnchanged) refuseUnlessMatch(c, "software", await selectionFields(c, appliance));
    await replaceSelection(placeOf(c), appliance, { wanted, onlyUnchanged });
    return await showSelection(c, appliance);
  })
  .get("/appliances/:id/software/installed", async (c) => {
    const appliance = await readableAppliance(c);
    const { build_id: buildId } = parseParams(OfBuild, await readParams(c));
    const installed =
      buildId === undefined
        ? await softwareOfNextBuild(placeOf(c), appliance)
        : await softwareOfBuild(placeOf(c), appliance, buildId);
    return xml(c, "software_map", softwareMapFields(appliance.id, installed, c.var));
  })
  .post("/appliances/:id/cmd/add_package", (c) => add(c, "package"))
  .post("/appliances/:id/cmd/add_pattern", (c) => add(c, "pattern"))
  .post("/appliances/:id/cmd/ban_package", (c) => ban(c))
  // One client sends DELETE to the remove commands; accepting it harms nobody (wire.md §5.2).
  .on(["POST", "DELETE"], "/appliances/:id/cmd/remove_package", (c) => remove(c, "package"))
  .on(["POST", "DELETE"], "/appliances/:id/cmd/remove_pattern", (c) => remove(c, "pattern"))
  .on(["POST", "DELETE"], "/appliances/:id/cmd/unban_package", (c) => remove(c, "ban"));

const showSelection = async (c: Context<ApiEnv>, appliance: Appliance): Promise<Response> =>
  validated(c, "software", await selectionFields(c, appliance));

const selectionFields = async (c: Context<ApiEnv>, { id: applianceId }: Appliance) =>
  softwareFields(applianceId, await listSelection(c.var.db, applianceId));

async function add(c: Context<ApiEnv>, kind: SoftwareKind): Promise<Response> {
  const appliance = await ownAppliance(c);
  const { name, version, repository_id: repositoryId } = parseParams(Pinned, await readParams(c));

  const change = await select(placeOf(c), appliance, { kind, name, version, repositoryId });

  return xml(c, "success", selectionChangeFields(change));
}

async function ban(c: Context<ApiEnv>): Promise<Response> {
  const appliance = await ownAppliance(c);
  const { name } = parseParams(Named, await readParams(c));

  const change = await select(placeOf(c), appliance, { kind: "ban", name });

  return xml(c, "success", selectionChangeFields(change));
}

async function remove(c: Context<ApiEnv>, kind: SoftwareKind): Promise<Response> {
  const appliance = await ownAppliance(c);
  const { name } = parseParams(Named, await readParams(c));

  const change = await deselect(placeOf(c), appliance, { kind, name });

  return xml(c, "success", selectionChangeFields(change));
}

const placeOf = (c: Context<ApiEnv>) => ({ env: c.env, db: c.var.db });

const readableAppliance = (c: Context<ApiEnv>) =>
  getAppliance(c.var.db, c.var.account.id, pathId(c, "id", "invalid_appliance_id"));

const ownAppliance = (c: Context<ApiEnv>) =>
  getOwnAppliance(c.var.db, c.var.account.id, pathId(c, "id", "invalid_appliance_id"));
