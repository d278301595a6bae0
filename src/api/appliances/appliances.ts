import { z } from "zod";
import { cloneAppliance, getAppliance, getOwnAppliance, parseArch } from "#domain/appliances/appliance";
import { deleteAppliance } from "#domain/appliances/deletion";
import type { Issue } from "#domain/appliances/issue";
import { shownStatus } from "#domain/appliances/status";
import { withEstimate } from "#domain/appliances/estimate";
import { withBuilds } from "#storage/appliance-builds";
import { plainListOf } from "#wire/xml";
import { factory } from "#api/factory";
import { id, parseParams, pathId, readParams, text } from "#api/params";
import { success, xml } from "#api/respond";
import { applianceFields } from "#api/views/appliance";

export const CloneRequest = z.object({
  clone_from: id("invalid_appliance_id"),
  name: text().optional(),
  arch: z.string().optional(),
});

export const appliances = factory
  .createApp()
  .post("/appliances", async (c) => {
    const { clone_from: cloneFrom, name, arch } = parseParams(CloneRequest, await readParams(c));

    const place = { env: c.env, db: c.var.db };
    const appliance = await cloneAppliance(place, c.var.account, {
      cloneFrom,
      name,
      arch: parseArch(arch),
      requestId: c.var.requestId,
    });

    const estimated = await withEstimate(place, appliance);
    return xml(c, "appliance", applianceFields({ appliance: estimated, builds: [] }, c.var));
  })
  .get("/appliances/:id", async (c) => {
    const appliance = await getAppliance(c.var.db, c.var.account.id, pathId(c, "id", "invalid_appliance_id"), "path");
    const estimated = await withEstimate({ env: c.env, db: c.var.db }, appliance);
    return xml(c, "appliance", applianceFields(await withBuilds(c.var.db, estimated), c.var));
  })
  .delete("/appliances/:id", async (c) => {
    const applianceId = pathId(c, "id", "invalid_appliance_id");
    const appliance = await getOwnAppliance(c.var.db, c.var.account.id, applianceId, "path");
    await deleteAppliance(c.env, c.var.db, appliance);
    return success(c);
  })
  .get("/appliances/:id/status", async (c) => {
    const appliance = await getAppliance(c.var.db, c.var.account.id, pathId(c, "id", "invalid_appliance_id"), "path");
    const { account, baseUrl } = c.var;
    const { state, issues } = await shownStatus(c.env, c.var.db, { appliance, accountId: account.id, baseUrl });
    return xml(c, "status", { state, issues: plainListOf("issue", issues.map(issueFields)) });
  });

const issueFields = ({ type, text, solution }: Issue) => ({
  type,
  text,
  solution: solution && { type: solution.type, package: solution.package },
});
