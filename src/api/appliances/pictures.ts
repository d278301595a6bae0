import type { Context } from "hono";
import { getAppliance, getOwnAppliance } from "#domain/appliances/appliance";
import { getPicture, pictureLimits, pictureTooLarge, replacePicture } from "#domain/contents/picture";
import { Refusal } from "#domain/refusal";
import { answerBlob } from "#http/blob";
import { receiveUpload } from "#http/upload";
import { readWhole } from "#http/whole-body";
import type { PictureKind } from "#storage/pictures";
import { factory, type ApiEnv } from "#api/factory";
import { pathId } from "#api/params";
import { damagedForm } from "#api/upload";
import { success } from "#api/respond";
import { v2Only } from "#api/v2-only";

/** Logo and background of an appliance. The Ruby client sends them by POST, the specification by PUT (wire.md §2.4). */
export const pictures = factory
  .createApp()
  .use("/appliances/:id/configuration/:picture{logo|background}", v2Only)
  .get("/appliances/:id/configuration/logo", (c) => show(c, "logo"))
  .on(["PUT", "POST"], "/appliances/:id/configuration/logo", (c) => replace(c, "logo"))
  .get("/appliances/:id/configuration/background", (c) => show(c, "background"))
  .on(["PUT", "POST"], "/appliances/:id/configuration/background", (c) => replace(c, "background"));

async function show(c: Context<ApiEnv>, kind: PictureKind): Promise<Response> {
  const appliance = await getAppliance(c.var.db, c.var.account.id, applianceId(c), "path");

  const shown = await getPicture(c.env, appliance, kind);

  return await answerBlob(c.req.raw, { ...shown, contentType: "image/png" });
}

async function replace(c: Context<ApiEnv>, kind: PictureKind): Promise<Response> {
  const accountId = c.var.account.id;
  const { id } = await getOwnAppliance(c.var.db, accountId, applianceId(c), "path");

  const png = await receivePng(c.req.raw, kind);
  await replacePicture({ env: c.env, db: c.var.db }, { id, accountId }, { kind, png });

  return success(c);
}

const applianceId = (c: Context<ApiEnv>) => pathId(c, "id", "invalid_appliance_id");

/** The file of the request, in memory: it is not larger than it may be. */
async function receivePng(request: Request, kind: PictureKind): Promise<Uint8Array> {
  const { stored } = await receiveUpload(request, {
    store: async ({ body }) => (await readWhole(body, pictureLimits[kind].maxBytes)) ?? "too large",
    discard: async () => {}, // nothing is stored yet
  }).catch(damagedForm("invalid_value"));
  if (stored === "too large") throw pictureTooLarge(kind);
  if (stored && stored.byteLength > 0) return stored;
  throw new Refusal("missing_parameter", { message: "The parameter file is missing." });
}
