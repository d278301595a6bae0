import { z } from "zod";
import { getAppliance } from "#domain/appliances/appliance";
import { searchSoftware } from "#domain/repositories/search";
import { factory } from "#api/factory";
import { flag, parseParams, pathId, readParams, text } from "#api/params";
import { xml } from "#api/respond";
import { softwareMapFields } from "#api/views/software";

export const SearchRequest = z.object({ q: text(), all_fields: flag.default(false), all_repos: flag.default(false) });

export const search = factory.createApp().get("/appliances/:id/software/search", async (c) => {
  const { id: accountId } = c.var.account;
  const appliance = await getAppliance(c.var.db, accountId, pathId(c, "id", "invalid_appliance_id"));
  const { q, all_fields: allFields, all_repos: allRepositories } = parseParams(SearchRequest, await readParams(c));

  const found = await searchSoftware(c.var.db, appliance, { accountId, q, allFields, allRepositories });

  return xml(c, "software_map", softwareMapFields(appliance.id, found, c.var));
});
