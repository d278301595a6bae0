import { z } from "zod";
import { deleteBuild, getBuild, listBuilds } from "#domain/builds/build";
import { readTexts } from "#domain/builds/log";
import { arrayOf } from "#wire/xml";
import { factory } from "#api/factory";
import { id, parseParams, pathId, readParams } from "#api/params";
import { success, xml } from "#api/respond";
import { buildDetailFields, buildFields } from "#api/views/build";

export const ListRequest = z.object({ appliance_id: id("invalid_appliance_id", "missing_appliance_id") });

export const builds = factory
  .createApp()
  .get("/builds", async (c) => {
    const { appliance_id: applianceId } = parseParams(ListRequest, await readParams(c));
    const all = await listBuilds(c.var.db, c.var.account.id, applianceId);
    const shown = all.map((build) => buildFields(build, c.var));
    return xml(c, "builds", arrayOf("build", shown));
  })
  .get("/builds/:id", async (c) => {
    const build = await getBuild(c.var.db, c.var.account.id, pathId(c, "id", "invalid_build_id"));
    const texts = c.var.version.name === "v2" ? await readTexts(c.env, build) : { own: "", kiwi: "" };
    return xml(c, "build", buildDetailFields(build, texts, c.var));
  })
  .delete("/builds/:id", async (c) => {
    await deleteBuild(c.env, c.var.db, c.var.account.id, pathId(c, "id", "invalid_build_id"));
    return success(c);
  });
