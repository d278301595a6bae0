import { z } from "zod";
import { id, text } from "#http/params";
import { cloneAppliance, parseArch } from "#domain/appliances/appliance";
import { servedArch } from "#domain/appliances/offer";
import { deleteAppliance } from "#domain/appliances/deletion";
import { findAnyAppliance, type Appliance } from "#storage/appliances";
import type { Database } from "#storage/db";
import { listGpgKeys } from "#storage/gpg-keys";
import { listOverlayFiles } from "#storage/overlay-files";
import { factory } from "../../factory.ts";
import { withSession } from "../../session.ts";
import { submit } from "../../submit.ts";
import { showOverview } from "../appliance/overview.tsx";
import { applianceAt, applianceRoute, withOwnAppliance } from "../appliance/with-appliance.ts";
import { takenBy } from "../appliance/share/taken.ts";
import { showNew } from "./new.tsx";

const Clone = z.object({
  clone_from: id("invalid_appliance_id"),
  name: text().optional(),
  arch: z.string().optional(),
});

/**
 * Lists what a clone got from another account, because others could log in with it. Clones of templates and of the
 * account's own appliances contain nothing unknown.
 */
async function cameAlong(db: Database, clone: Appliance): Promise<string> {
  const source = clone.parentId === null ? undefined : await findAnyAppliance(db, clone.parentId);
  if (!source || source.accountId === null || source.accountId === clone.accountId) return "";
  const [files, keys] = await db.batch([listOverlayFiles(db, clone.id), listGpgKeys(db, clone.id)]);
  const taken = takenBy(clone, { files, keys })
    .map(([kind, names]) => `${kind}: ${names}.`)
    .join(" ");
  return taken === "" ? "" : ` These came along from its publisher. Look at them before you build. ${taken}`;
}

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
        const served = await servedArch(c.var.db, { cloneFrom, arch: parseArch(arch) });
        const request = { cloneFrom, name, arch: served, requestId };
        const clone = await cloneAppliance({ env: c.env, db: c.var.db }, c.var.account, request);
        const text = `${clone.name.slice(0, 100)} is yours now.${await cameAlong(c.var.db, clone)}`;
        return { to: applianceAt(clone.id), result: { text: text.slice(0, 500) } };
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
