import { z } from "zod";
import { id, text } from "#api/params";
import { cloneAppliance, parseArch } from "#domain/appliances/appliance";
import { deleteAppliance } from "#domain/appliances/deletion";
import { factory } from "../../factory.ts";
import { withSession } from "../../session.ts";
import { submit } from "../../submit.ts";
import { showOverview } from "../appliance/overview.tsx";
import { applianceAt, applianceRoute, withOwnAppliance } from "../appliance/with-appliance.ts";
import { showNew } from "./new.tsx";

const Clone = z.object({
  clone_from: id("invalid_appliance_id"),
  name: text().optional(),
  arch: z.string().optional(),
});

/** Creates and deletes appliances. Templates, appliances and published versions are all cloned here. */
export const appliancesActs = factory
  .createApp()
  .use("/appliances", withSession)
  .use(`${applianceRoute}/delete`, ...withOwnAppliance)
  .post("/appliances", (c) =>
    submit(c, {
      fields: Clone,
      rate: "clones",
      fieldOf: { invalid_value: "name", invalid_architecture: "arch" },
      again: showNew,
      act: async ({ clone_from: cloneFrom, name, arch }, { requestId }) => {
        const request = { cloneFrom, name, arch: parseArch(arch), requestId };
        const clone = await cloneAppliance({ env: c.env, db: c.var.db }, c.var.account, request);
        return { to: applianceAt(clone.id), result: { text: `${clone.name.slice(0, 200)} is yours now.` } };
      },
    }),
  )
  .post(`${applianceRoute}/delete`, (c) =>
    submit(c, {
      again: showOverview,
      act: async () => {
        const { db, appliance } = c.var;
        await deleteAppliance({ env: c.env, db }, appliance);
        return { to: "/appliances", result: { text: `${appliance.name.slice(0, 200)} is deleted.` } };
      },
    }),
  );
