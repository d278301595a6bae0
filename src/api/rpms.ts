import type { Context } from "hono";
import { z } from "zod";
import { makeOnce } from "#domain/accounts/idempotency";
import { Refusal } from "#domain/refusal";
import { checkBaseSystem, getUpload, listUploads } from "#domain/rpms/rpm";
import { discardUpload, stageUpload, tooLarge, type StagedUpload } from "#domain/rpms/staging";
import { addUpload, deleteUpload, findUpload, replaceUpload } from "#domain/rpms/upload";
import { answerBlob } from "#http/blob";
import { receiveUpload, type Received } from "#http/upload";
import { uploadKey } from "#storage/blobs";
import { arrayOf } from "#wire/xml";
import { factory, type ApiEnv } from "#api/factory";
import { parseParams, pathId, readParams, readQuery, text } from "#api/params";
import { success, xml } from "#api/respond";
import { damagedForm, refuseLongBody } from "#api/upload";
import { rpmEntryFields, rpmFields } from "#api/views/rpm";

export const ListRequest = z.object({ base_system: text() });

/** The account's own packages: RPMs and tarballs of RPMs, which make up its user repositories. */
export const rpms = factory
  .createApp()
  .get("/rpms", async (c) => {
    const { base_system: baseSystem } = parseParams(ListRequest, await readParams(c));
    const uploads = await listUploads(c.var.db, c.var.account.id, baseSystem);
    return xml(c, "rpms", arrayOf("rpm", uploads.map(rpmEntryFields), { base_system: baseSystem }));
  })
  .post("/rpms", async (c) => {
    const { db, account, requestId } = c.var;
    const named = readQuery(c)["base_system"];
    if (named !== undefined) await checkBaseSystem(db, named); // before gigabytes come

    const rpm = await makeOnce(requestId, {
      find: (requestId) => findUpload(c.env, db, { account, requestId }),
      make: async () => {
        const { fields, stored } = await receive(c);
        const given = { base_system: named ?? fields.get("base_system") ?? "" };
        return await withFile(c, stored, async (staged) => {
          const { base_system: baseSystem } = parseParams(ListRequest, given.base_system === "" ? {} : given);
          await checkBaseSystem(db, baseSystem);
          return addUpload(c.env, db, { account, baseSystem, requestId }, staged);
        });
      },
    });

    return xml(c, "rpm", rpmFields(rpm));
  })
  .get("/rpms/:id", async (c) => xml(c, "rpm", rpmFields(await uploadOf(c))))
  .put("/rpms/:id", async (c) => {
    const { db, account } = c.var;
    const { id, baseSystem, storedBytes } = await uploadOf(c);

    const { stored } = await receive(c, storedBytes);
    const rpm = await withFile(c, stored, (staged) => replaceUpload(c.env, db, { account, id, baseSystem }, staged));

    return xml(c, "rpm", rpmFields(rpm));
  })
  .delete("/rpms/:id", async (c) => {
    await deleteUpload(c.env, c.var.db, c.var.account, pathId(c, "id", "invalid_rpm_id"));
    return success(c);
  })
  .get("/rpms/:id/data", async (c) => {
    const { blobId, size, sha256, isArchive, fileName } = await uploadOf(c);
    return await answerBlob(c.req.raw, {
      size,
      etag: `"${sha256}"`,
      contentType: isArchive ? "application/octet-stream" : "application/x-rpm",
      fileName,
      read: (range) => c.env.BLOBS.get(uploadKey(blobId), { range }),
    });
  });

const uploadOf = (c: Context<ApiEnv>) => getUpload(c.var.db, c.var.account.id, pathId(c, "id", "invalid_rpm_id"));

/** Stores the file of the request while it arrives. */
async function receive(c: Context<ApiEnv>, replacedBytes = 0): Promise<Received<StagedUpload>> {
  refuseLongBody(c, tooLarge);
  const { db, account } = c.var;
  return await receiveUpload(c.req.raw, {
    store: (file) => stageUpload(c.env, db, { account, replacedBytes }, file),
    discard: (staged) => discardUpload(c.env, staged),
  }).catch(damagedForm("invalid_file"));
}

/** Works with the file that came; when that is refused, the file goes again. */
async function withFile<T>(
  c: Context<ApiEnv>,
  staged: StagedUpload | undefined,
  work: (staged: StagedUpload) => Promise<T>,
): Promise<T> {
  if (!staged) throw new Refusal("missing_parameter", { message: "The parameter file is missing." });
  try {
    return await work(staged);
  } catch (error) {
    if (error instanceof Refusal) await discardUpload(c.env, staged);
    throw error;
  }
}
