import { Buffer } from "node:buffer";
import { z } from "zod";
import { getAppliance } from "#domain/appliances/appliance";
import { findManifest } from "#domain/builds/manifest";
import { factory } from "#api/factory";
import { parseParams, pathId, readParams } from "#api/params";
import { v2Only } from "#api/v2-only";
import { manifestFields } from "#api/views/manifest";
import { writeXml } from "#wire/xml";

export const Wanted = z.object({ version: z.string().optional() });

const path = "/appliances/:id/software/manifest/:imageType";

/** A file more than a document: always XML, and with its declaration. */
export const manifest = factory.createApp().get(path, v2Only, async (c) => {
  const applianceId = pathId(c, "id", "invalid_appliance_id");
  const { version } = parseParams(Wanted, await readParams(c));
  const appliance = await getAppliance(c.var.db, c.var.account.id, applianceId, "path");
  const wanted = { imageType: c.req.param("imageType"), version, allowedTypes: c.var.version.imageTypes };

  const found = await findManifest({ env: c.env, db: c.var.db }, appliance, wanted);

  const body = `<?xml version="1.0" encoding="UTF-8"?>\n${writeXml("manifest", manifestFields(found, c.var))}`;
  const headers = {
    "Content-Type": "application/xml; charset=utf-8",
    "Content-Length": String(Buffer.byteLength(body)),
  };
  return c.body(body, 200, headers);
});
