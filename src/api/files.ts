import type { Context } from "hono";
import { z } from "zod";
import { getOwnAppliance } from "#domain/appliances/appliance";
import { changeFile, deleteFile, getFile, getOwnFile, listFiles } from "#domain/contents/overlay-file";
import {
  addFile,
  addWebFile,
  discardContent,
  orDiscard,
  replaceFile,
  stageContent,
  uploadTooLarge,
  type Place,
  type StagedFile,
} from "#domain/contents/overlay-file-content";
import { metadataNames, parseChanges, parseMetadata } from "#domain/contents/overlay-file-metadata";
import { Refusal } from "#domain/refusal";
import { fileNameOf, parseWebAddress } from "#domain/contents/web-upload";
import { answerBlob } from "#http/blob";
import { contentKey } from "#storage/blobs";
import type { OverlayFile } from "#storage/overlay-files";
import { factory, type ApiEnv } from "#api/factory";
import { changesOf } from "#api/file-document";
import { receiveFile } from "#api/file-upload";
import { id, parseParams, pathId, readParams, readQuery } from "#api/params";
import { success, xml } from "#api/respond";
import { fileFields, filesFields } from "#api/views/file";
import { readXmlBody } from "#api/xml-body";

export const OfAppliance = z.object({ appliance_id: id("invalid_appliance_id", "missing_appliance_id") });

/** What a POST of a file takes beside it. */
export const NewFile = OfAppliance.extend({
  url: z.string().optional(),
  ...Object.fromEntries(metadataNames.map((name) => [name, z.string().optional()])),
});

/** Overlay files: what a build copies into the image. */
export const files = factory
  .createApp()
  .get("/files", async (c) => {
    const { appliance_id: applianceId } = parseParams(OfAppliance, await readParams(c));
    return xml(c, "files", filesFields(await listFiles(c.var.db, c.var.account.id, applianceId), c.var));
  })
  .post("/files", async (c) => {
    const query = readQuery(c);
    if (query["appliance_id"] !== undefined) await ownAppliance(c, query); // before gigabytes come

    const { fields, stored } = await receive(c, { isWanted: query["url"] === undefined });
    const given = { ...withoutEmpty(fields), ...query };
    const file = await orDiscard(placeOf(c), stored, () => add(c, given, stored));

    return xml(c, "file", fileFields(file, c.var));
  })
  .get("/files/:id", async (c) => xml(c, "file", fileFields(await readableFile(c), c.var)))
  .put("/files/:id", async (c) => {
    const { db, account } = c.var;
    const file = await ownFile(c);
    const changes = parseChanges(changesOf(await readXmlBody(c.req.raw)));

    const changed = await changeFile(db, account.id, file, changes);

    return xml(c, "file", fileFields(changed, c.var));
  })
  .delete("/files/:id", async (c) => {
    await deleteFile(c.var.db, c.var.account.id, idOf(c));
    return success(c);
  })
  .get("/files/:id/data", async (c) => {
    const { blobId, size, sha256, fileName } = await readableFile(c);
    return await answerBlob(c.req.raw, {
      size,
      etag: `"${sha256}"`,
      contentType: "application/octet-stream",
      fileName,
      read: (range) => c.env.BLOBS.get(contentKey(blobId), { range }),
    });
  })
  .put("/files/:id/data", async (c) => {
    const file = await ownFile(c);

    const { stored } = await receive(c, { isWanted: true, replaced: file });
    if (!stored) throw new Refusal("invalid_request", { message: "Send the new content as the form's field file." });
    const replaced = await orDiscard(placeOf(c), stored, () => replaceFile(placeOf(c), file, stored));

    return xml(c, "file", fileFields(replaced, c.var));
  });

/** Adds what was sent, or what lies at the url. */
async function add(c: Context<ApiEnv>, given: Record<string, string>, stored: StagedFile | undefined) {
  const { id: applianceId } = await ownAppliance(c, given);
  const { url } = parseParams(NewFile, given);
  if (stored && url === undefined) {
    return await addFile(placeOf(c), applianceId, parseMetadata(given, stored.sentName), stored);
  }
  if (stored || url === undefined) throw new Refusal("invalid_request");
  const address = parseWebAddress(url);
  return await addWebFile(placeOf(c), applianceId, parseMetadata(given, fileNameOf(address)), address);
}

/** Stores the file of the request while it arrives. */
const receive = (c: Context<ApiEnv>, { isWanted, replaced }: { isWanted: boolean; replaced?: OverlayFile }) =>
  receiveFile<StagedFile>(c, {
    parameters: Object.keys(NewFile.shape),
    store: async (file) => {
      if (!isWanted) throw new Refusal("invalid_request");
      return await stageContent(placeOf(c), file, { replaced });
    },
    discard: (staged) => discardContent(placeOf(c), staged),
    tooLarge: uploadTooLarge,
  });

const withoutEmpty = (fields: ReadonlyMap<string, string>): Record<string, string> =>
  Object.fromEntries([...fields].filter(([, value]) => value !== ""));

const placeOf = (c: Context<ApiEnv>): Place => ({ env: c.env, db: c.var.db, accountId: c.var.account.id });

const ownAppliance = (c: Context<ApiEnv>, given: Record<string, string>) =>
  getOwnAppliance(c.var.db, c.var.account.id, parseParams(OfAppliance, given).appliance_id, "parameter");

const idOf = (c: Context<ApiEnv>) => pathId(c, "id", "invalid_overlay_file_id");
const readableFile = (c: Context<ApiEnv>) => getFile(c.var.db, c.var.account.id, idOf(c));
const ownFile = (c: Context<ApiEnv>) => getOwnFile(c.var.db, c.var.account.id, idOf(c));
