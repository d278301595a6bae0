import { z } from "zod";
import { getAppliance } from "#domain/appliances/appliance";
import { findImageFile } from "#domain/images/files";
import { answerBlob } from "#http/blob";
import { cutOut } from "#http/cut";
import { factory } from "#api/factory";
import { id, parseParams, pathId, readParams } from "#api/params";

export const Wanted = z.object({
  build_id: id("invalid_build_id"),
  // Longer than PATH_MAX, or with a NUL in it, a path names nothing.
  path: z
    .string({ error: "missing_parameter" })
    .max(4096, "invalid_path")
    .regex(/^[^\0]*$/, "invalid_path"),
});

export const imageFiles = factory.createApp().get("/appliances/:id/image_files", async (c) => {
  const applianceId = pathId(c, "id", "invalid_appliance_id");
  const { build_id: buildId, path } = parseParams(Wanted, await readParams(c));
  const appliance = await getAppliance(c.var.db, c.var.account.id, applianceId, "path");

  const file = await findImageFile({ env: c.env, db: c.var.db }, appliance, { buildId, path });

  return await answerBlob(c.req.raw, {
    size: file.size,
    etag: `"${file.tag}"`,
    contentType: "application/octet-stream",
    read: async (range) => ({ body: cutOut(await file.open(), range) }),
  });
});
