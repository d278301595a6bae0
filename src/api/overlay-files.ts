import type { Context } from "hono";
import { z } from "zod";
import { file as fileDocument, fileChange, files as filesDocument } from "#documents/overlay-file";
import { success } from "#documents/success";
import { makeOnce } from "#domain/accounts/idempotency";
import { getOwnAppliance } from "#domain/appliances/appliance";
import { changeFile, deleteFile, getFile, getOwnFile, listFiles } from "#domain/contents/overlay-file";
import {
  addFile,
  addWebFile,
  discardContent,
  replaceFile,
  stageContent,
  uploadTooLarge,
  type FileTarget,
  type StagedFile,
} from "#domain/contents/overlay-file-content";
import { metadataNames, parseChanges, parseMetadata } from "#domain/contents/overlay-file-metadata";
import { Refusal } from "#domain/refusal";
import { fileNameOf, parseWebAddress } from "#domain/contents/web-upload";
import { discardOnRefusal } from "#domain/discard-on-refusal";
import { openerFor } from "#domain/operation/downloads";
import { readerOf } from "#http/client-address";
import { answerOverlayFile } from "#http/overlay-file";
import { findOverlayFileOfRequest, type OverlayFile } from "#storage/overlay-files";
import { call, file, type CallGroup } from "#api/call";
import type { ApiEnv } from "#api/factory";
import { receiveFile } from "#api/file-upload";
import { id, parseParams, readQuery } from "#http/params";
import { withoutEmpty } from "#http/upload-form";

const OfAppliance = z.object({ appliance_id: id("invalid_appliance_id", "missing_appliance_id") });

/** The parameters of a POST, in addition to the file. */
const NewFile = OfAppliance.extend({
  url: z.string().optional(),
  ...Object.fromEntries(metadataNames.map((name) => [name, z.string().optional()])),
});

const ids = { file_id: "invalid_overlay_file_id" } as const;

export const files: CallGroup = {
  title: "Overlay files",
  about: "Files that a build copies into the image.",
  operations: [
    call("GET /files", {
      name: "listFiles",
      access: "readable",
      summary: "Overlay files of an appliance",
      params: OfAppliance,
      answer: filesDocument,
      refuses: ["missing_appliance_id", "invalid_appliance_id"],
      act: ({ db, account }, { appliance_id }) => listFiles(db, account.id, appliance_id),
    }),
    call("POST /files", {
      name: "addFile",
      access: "own",
      rate: "uploads",
      summary: "Add an overlay file: upload it, or give its URL",
      details: "Send either a file or a url.",
      besideFile: NewFile,
      about: { url: "URL to download from: http, https or ftp." },
      takes: { kind: "file", what: "The content, unless there is a url.", mayBeAbsent: true },
      answer: fileDocument,
      refuses: [
        "missing_appliance_id",
        "invalid_appliance_id",
        "access_denied",
        "missing_parameter",
        "invalid_request",
        "invalid_protocol",
        "invalid_value",
        "download_error",
        "unknown_error",
      ],
      act: async (_caller, _request, c) => {
        const query = readQuery(c);
        if (query["appliance_id"] !== undefined) await ownAppliance(c, query); // before a large upload
        return await makeOnce(c.var.requestId, {
          find: (requestId) => findOverlayFileOfRequest(c.var.db, requestId),
          make: async () => {
            const { fields, stored } = await receive(c, { isWanted: query["url"] === undefined });
            const given = { ...withoutEmpty(fields), ...query };
            return await discardOnRefusal(
              () => discardContent(targetOf(c), stored),
              () => add(c, given, stored),
            );
          },
        });
      },
    }),
    call("GET /files/{file_id}", {
      name: "getFile",
      access: "readable",
      summary: "An overlay file",
      ids,
      answer: fileDocument,
      act: ({ db, account }, { file_id }) => getFile(db, account.id, file_id),
    }),
    call("PUT /files/{file_id}", {
      name: "changeFile",
      access: "own",
      summary: "Change the place, owner or mode of a file, or whether builds include it",
      details: "What you omit stays as it is, so you can send back the answer of GET.",
      ids,
      takes: fileChange,
      answer: fileDocument,
      refuses: ["invalid_xml", "invalid_node", "invalid_value"],
      act: async ({ db, account }, { file_id, body }) => {
        const file = await getOwnFile(db, account.id, file_id);
        return await changeFile(db, account.id, file, parseChanges(await body()));
      },
    }),
    call("DELETE /files/{file_id}", {
      name: "deleteFile",
      access: "own",
      summary: "Delete a file",
      ids,
      answer: success,
      act: ({ db, account }, { file_id }) => deleteFile(db, account.id, file_id),
    }),
    call("GET /files/{file_id}/data", {
      name: "downloadFile",
      access: "readable",
      summary: "The content of a file",
      ids,
      answer: file("What was uploaded.", "application/octet-stream"),
      act: async ({ env, db, account }, { file_id }, c) => {
        return await answerOverlayFile(openerFor(env, readerOf(c)), c.req.raw, await getFile(db, account.id, file_id));
      },
    }),
    call("PUT /files/{file_id}/data", {
      name: "replaceFile",
      access: "own",
      rate: "uploads",
      summary: "Replace the content of a file",
      ids,
      takes: { kind: "file", what: "The new content." },
      answer: fileDocument,
      refuses: ["invalid_request", "unknown_error"],
      act: async ({ db, account }, { file_id }, c) => {
        const file = await getOwnFile(db, account.id, file_id);
        const { stored } = await receive(c, { isWanted: true, replaced: file });
        if (!stored) {
          throw new Refusal("invalid_request", { message: "Send the new content as the form's field file." });
        }
        return await discardOnRefusal(
          () => discardContent(targetOf(c), stored),
          () => replaceFile(targetOf(c), file, stored),
        );
      },
    }),
  ],
};

/** Adds the uploaded file, or the one at the URL. */
async function add(c: Context<ApiEnv>, given: Record<string, string>, stored: StagedFile | undefined) {
  const { id: applianceId } = await ownAppliance(c, given);
  const { url } = parseParams(NewFile, given);
  if (stored && url === undefined) {
    return await addFile(targetOf(c), applianceId, parseMetadata(given, stored.sentName), stored);
  }
  if (stored || url === undefined) throw new Refusal("invalid_request");
  const address = parseWebAddress(url);
  return await addWebFile(targetOf(c), applianceId, parseMetadata(given, fileNameOf(address)), address);
}

/** Stores the file of the request while it arrives. */
const receive = (c: Context<ApiEnv>, { isWanted, replaced }: { isWanted: boolean; replaced?: OverlayFile }) =>
  receiveFile<StagedFile>(c, {
    parameters: Object.keys(NewFile.shape),
    store: async (file) => {
      if (!isWanted) throw new Refusal("invalid_request");
      return await stageContent(targetOf(c), file, { replaced });
    },
    discard: (staged) => discardContent(targetOf(c), staged),
    tooLarge: uploadTooLarge,
  });

const targetOf = (c: Context<ApiEnv>): FileTarget => ({
  env: c.env,
  db: c.var.db,
  accountId: c.var.account.id,
  requestId: c.var.requestId,
});

const ownAppliance = (c: Context<ApiEnv>, given: Record<string, string>) =>
  getOwnAppliance(c.var.db, c.var.account.id, parseParams(OfAppliance, given).appliance_id, "invalid");
