import { z } from "zod";
import { cancelBuild, startBuild, watchBuild, watchBuilds } from "#domain/builds/build";
import { arrayOf } from "#xml/write";
import { factory } from "#api/factory";
import { flag, id, parseParams, pathId, readParams } from "#api/params";
import { success, xml } from "#api/respond";
import { runningBuildFields } from "#api/views/running-build";

const applianceId = id("invalid_appliance_id", "missing_appliance_id");
export const ListRequest = z.object({ appliance_id: applianceId });
export const StartRequest = z.object({
  appliance_id: applianceId,
  force: flag.default(false),
  version: z.string().optional(),
  image_type: z.string().optional(),
  multi: flag.default(false),
});

export const runningBuilds = factory
  .createApp()
  .get("/running_builds", async (c) => {
    const { appliance_id: applianceId } = parseParams(ListRequest, await readParams(c));
    const builds = await watchBuilds(c.env, c.var.db, c.var.account.id, applianceId);
    return xml(c, "running_builds", arrayOf("running_build", builds.map(runningBuildFields)));
  })
  .post("/running_builds", async (c) => {
    const { force, version, multi, ...named } = parseParams(StartRequest, await readParams(c));

    const build = await startBuild(c.env, c.var.db, c.var.account, {
      applianceId: named.appliance_id,
      imageType: named.image_type,
      version,
      force,
      multi,
      allowedTypes: c.var.version.imageTypes,
      baseUrl: c.var.baseUrl,
    });

    // The root is `build` and its first child `id`: all that clients read of it (wire.md §2.11).
    return xml(c, "build", runningBuildFields(build));
  })
  .get("/running_builds/:id", async (c) => {
    const buildId = pathId(c, "id", "invalid_running_build_id");
    const build = await watchBuild(c.env, c.var.db, c.var.account.id, buildId);
    return xml(c, "running_build", runningBuildFields(build));
  })
  .delete("/running_builds/:id", async (c) => {
    const buildId = pathId(c, "id", "invalid_running_build_id");
    await cancelBuild(c.env, c.var.db, c.var.account.id, buildId);
    return success(c);
  });
