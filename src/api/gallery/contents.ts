import type { Context } from "hono";
import { z } from "zod";
import { getPublication } from "#domain/gallery/access";
import { tryPublication } from "#domain/gallery/testdrive";
import { getPicture } from "#domain/contents/picture";
import { answerBlob } from "#http/blob";
import type { PictureKind } from "#storage/pictures";
import { factory, type ApiEnv } from "#api/factory";
import { parseParams, pathId, readParams } from "#api/params";
import { xml } from "#api/respond";
import { publishedSoftwareFields } from "#api/views/gallery-software";
import { startedTestdriveFields } from "#api/views/testdrive";

/** Without a version: the one that was published last. */
export const OfVersion = z.object({ version: z.string().optional() });

/** What is in a published version, and how it looks and runs. */
export const galleryContents = factory
  .createApp()
  .get("/gallery/appliances/:id/software", async (c) => {
    const { version } = parseParams(OfVersion, await readParams(c));
    const wanted = { applianceId: applianceId(c), version, place: "parameter" } as const;
    const { applianceId: id, software } = await getPublication(c.var.db, c.var.account.id, wanted);
    return xml(c, "gallery", { appliance: publishedSoftwareFields(id, software) });
  })
  .get("/gallery/appliances/:id/logo", (c) => showPicture(c, "logo"))
  .get("/gallery/appliances/:id/background", (c) => showPicture(c, "background"))
  // The reference lists it so.
  .get("/gallery/appliances/:id/background.", (c) => showPicture(c, "background"))
  .post("/gallery/appliances/:id/testdrive", async (c) => {
    const { version } = parseParams(OfVersion, await readParams(c));
    const wanted = { applianceId: applianceId(c), version, requestId: c.var.requestId };

    const started = await tryPublication({ env: c.env, db: c.var.db }, c.var.account, wanted);

    const { url, server } = startedTestdriveFields(started, c.var.baseUrl);
    return xml(c, "gallery", { testdrive: { url, server } });
  });

const applianceId = (c: Context<ApiEnv>) => pathId(c, "id", "invalid_appliance_id");

async function showPicture(c: Context<ApiEnv>, kind: PictureKind): Promise<Response> {
  const publication = await getPublication(c.var.db, c.var.account.id, { applianceId: applianceId(c) });
  const picture = await getPicture(c.env, publication, kind);
  return await answerBlob(c.req.raw, { ...picture, contentType: "image/png" });
}
