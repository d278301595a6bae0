import type { Context } from "hono";
import { z } from "zod";
import { getOwnAppliance } from "#domain/appliances/appliance";
import { replaceAccess, type ReplacedAccess } from "#domain/appliances/inherited-access";
import { factory, type WebEnv } from "../../factory.ts";
import { submit } from "../../submit.ts";
import { Replaced } from "./inherited.tsx";
import { showOverview } from "./overview.tsx";
import { applianceRoute, withOwnAppliance } from "./with-appliance.ts";

const route = `${applianceRoute}/access`;
const Wanted = z.object({ keys: z.literal("add").optional() });

/** Replaces the passwords and SSH keys that a clone has inherited. The new passwords are shown once. */
export const inheritedActs = factory
  .createApp()
  .use(route, ...withOwnAppliance)
  .post(route, (c) =>
    submit(c, {
      fields: Wanted,
      again: (c) => showOverview(c),
      act: async ({ keys }) => {
        const { db, account, appliance } = c.var;
        const replaced = await replaceAccess({ env: c.env, db }, account, { appliance, withKeys: keys === "add" });
        return await showReplaced(c, replaced);
      },
    }),
  );

async function showReplaced(c: Context<WebEnv>, replaced: ReplacedAccess): Promise<Response> {
  c.set("appliance", await getOwnAppliance(c.var.db, c.var.account.id, c.var.appliance.id));
  return await showOverview(c, <Replaced replaced={replaced} />);
}
