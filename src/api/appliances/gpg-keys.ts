import type { Context } from "hono";
import { z } from "zod";
import { getAppliance, getOwnAppliance } from "#domain/appliances/appliance";
import { getGpgKey, importGpgKey, removeGpgKey } from "#domain/contents/gpg-key";
import { listGpgKeys } from "#storage/gpg-keys";
import { arrayOf } from "#wire/xml";
import { readKeyRequest } from "#api/appliances/gpg-key-request";
import { factory, type ApiEnv } from "#api/factory";
import { parseParams, pathId } from "#api/params";
import { success, xml } from "#api/respond";
import { gpgKeyFields } from "#api/views/gpg-key";

/** The key itself may come as a file instead. */
export const NewKey = z.object({
  name: z.string({ error: "invalid_name" }),
  target: z.literal("rpm", { error: "invalid_target" }),
  key: z.string().optional(),
});

/** Keys that a build imports into the keyring of the image. */
export const gpgKeys = factory
  .createApp()
  .get("/appliances/:id/gpg_keys", async (c) => {
    const keys = await listGpgKeys(c.var.db, (await readableAppliance(c)).id);
    return xml(c, "gpg_keys", arrayOf("gpg_key", keys.map(gpgKeyFields)));
  })
  .post("/appliances/:id/gpg_keys", async (c) => {
    const appliance = await ownAppliance(c);
    const { params, key } = await readKeyRequest(c);
    const { name, target } = parseParams(NewKey, params);

    const added = await importGpgKey(c.var.db, appliance, { name, target, key, requestId: c.var.requestId });

    return xml(c, "gpg_key", gpgKeyFields(added));
  })
  .get("/appliances/:id/gpg_keys/:key_id", async (c) => {
    const { id } = await readableAppliance(c);
    return xml(c, "gpg_key", gpgKeyFields(await getGpgKey(c.var.db, id, keyId(c))));
  })
  .delete("/appliances/:id/gpg_keys/:key_id", async (c) => {
    const { id } = await ownAppliance(c);
    await removeGpgKey(c.var.db, id, keyId(c));
    return success(c);
  });

const keyId = (c: Context<ApiEnv>) => pathId(c, "key_id", "invalid_gpg_key_id");

const readableAppliance = (c: Context<ApiEnv>) =>
  getAppliance(c.var.db, c.var.account.id, pathId(c, "id", "invalid_appliance_id"), "path");

async function ownAppliance(c: Context<ApiEnv>): Promise<{ id: number; accountId: number }> {
  const accountId = c.var.account.id;
  const { id } = await getOwnAppliance(c.var.db, accountId, pathId(c, "id", "invalid_appliance_id"), "path");
  return { id, accountId };
}
