import type { Context } from "hono";
import { getAppliance, getOwnAppliance } from "#domain/appliances/appliance";
import { changeConfiguration, shownConfiguration, type ShownConfiguration } from "#domain/configuration/of-appliance";
import { configurationChangeOf } from "#api/appliances/configuration-document";
import { factory, type ApiEnv } from "#api/factory";
import { pathId } from "#api/params";
import { refuseUnlessMatch, validated } from "#api/revalidation";
import { v2Only } from "#api/v2-only";
import { configurationFields } from "#api/views/configuration";
import { readXmlBody } from "#api/xml-body";

export const configuration = factory
  .createApp()
  .use("/appliances/:id/configuration", v2Only)
  .get("/appliances/:id/configuration", async (c) => {
    const appliance = await getAppliance(c.var.db, c.var.account.id, pathId(c, "id", "invalid_appliance_id"), "path");
    return show(c, await shownConfiguration(c.env, c.var.account.id, appliance));
  })
  .put("/appliances/:id/configuration", async (c) => {
    const { db, account } = c.var;
    const appliance = await getOwnAppliance(db, account.id, pathId(c, "id", "invalid_appliance_id"), "path");
    const change = configurationChangeOf(await readXmlBody(c.req.raw));

    const changed = await changeConfiguration(
      { env: c.env, db },
      { accountId: account.id, appliance },
      { change, precondition: (before) => refuseUnlessMatch(c, "configuration", configurationFields(before)) },
    );

    return show(c, changed);
  });

const show = (c: Context<ApiEnv>, shown: ShownConfiguration): Response =>
  validated(c, "configuration", configurationFields(shown));
