import type { Context } from "hono";
import { z } from "zod";
import { rpm, rpms as rpmsDocument } from "#documents/rpm";
import { success } from "#documents/success";
import { makeOnce } from "#domain/accounts/idempotency";
import { Refusal } from "#domain/refusal";
import { packageTypeOf } from "#domain/rpms/headers";
import { discardUpload, stageUpload, tooLarge, type StagedUpload } from "#domain/rpms/staging";
import {
  addUpload,
  checkBaseSystem,
  deleteUpload,
  findUpload,
  getUpload,
  listUploads,
  replaceUpload,
} from "#domain/rpms/upload";
import { discardOnRefusal } from "#domain/discard-on-refusal";
import { openerFor } from "#domain/operation/downloads";
import { answerBlob } from "#http/blob";
import { readerOf } from "#http/client-address";
import { receiveUpload } from "#http/upload";
import type { StoredPackage } from "#model/stored-package";
import { uploadKey } from "#storage/blobs";
import { call, file, type Caller, type CallGroup } from "#api/call";
import type { ApiEnv } from "#api/factory";
import { parseParams, readQuery, text } from "#http/params";
import { damagedForm, refuseLongBody, withoutEmpty } from "#http/upload-form";

const OfBaseSystem = z.object({ base_system: text() });

const ids = { rpm_id: "invalid_rpm_id" } as const;
const ofUpload = { ids, finds: ({ db, account }: Caller, id: number) => getUpload(db, account.id, id) };
const upload = {
  kind: "file",
  what: "A package, or a tarball of packages: RPMs, or .deb files for a base system of Debian.",
} as const;

const contentTypes = {
  rpm: "application/x-rpm",
  deb: "application/vnd.debian.binary-package",
  archive: "application/octet-stream",
};

const typeOfUpload = ([single]: StoredPackage[]) => (single ? packageTypeOf(single) : "archive");

/** The account's own packages, uploaded individually or as tarballs. They make up its user repositories. */
export const rpms: CallGroup = {
  title: "Your own packages",
  about:
    "RPMs, Debian packages, and tarballs of them. Those of one base system make up your user repository for it. Their type must be that of the base system.",
  operations: [
    call("GET /rpms", {
      name: "listRpms",
      access: "own",
      isForAll: true,
      summary: "Your uploads for a base system",
      params: OfBaseSystem,
      answer: rpmsDocument,
      refuses: ["missing_parameter", "invalid_base_system"],
      act: ({ db, account }, { base_system }) => listUploads(db, account.id, base_system),
    }),
    call("POST /rpms", {
      name: "uploadRpm",
      access: "own",
      rate: "uploads",
      summary: "Upload a package or a tarball of packages",
      details: "The same package built again replaces the earlier one and keeps its id.",
      besideFile: OfBaseSystem,
      takes: upload,
      answer: rpm,
      refuses: ["missing_parameter", "invalid_base_system", "invalid_file", "unknown_error"],
      act: async ({ env, db, account, requestId }, _request, c) => {
        const { base_system: named } = readQuery(c);
        if (named !== undefined) await checkBaseSystem(db, named); // before a large upload
        return await makeOnce(requestId, {
          find: (requestId) => findUpload({ env, db }, { account, requestId }),
          make: async () => {
            const { sent, staged } = await receive(c);
            const add = async () => {
              const { base_system: baseSystem } = parseParams(OfBaseSystem, { ...sent, ...readQuery(c) });
              await checkBaseSystem(db, baseSystem);
              return await addUpload({ env, db }, { account, baseSystem, requestId }, staged);
            };
            return await discardOnRefusal(() => discardUpload({ env, db }, staged), add);
          },
        });
      },
    }),
    call("GET /rpms/{rpm_id}", {
      name: "getRpm",
      access: "own",
      isForAll: true,
      summary: "An upload",
      ...ofUpload,
      answer: rpm,
      act: (_caller, { found }) => found,
    }),
    call("PUT /rpms/{rpm_id}", {
      name: "replaceRpm",
      access: "own",
      rate: "uploads",
      summary: "Replace the content of an upload",
      ...ofUpload,
      takes: upload,
      answer: rpm,
      refuses: ["missing_parameter", "invalid_file", "unknown_error"],
      act: async ({ env, db, account }, { found: { id, baseSystem, storedBytes } }, c) => {
        const { staged } = await receive(c, storedBytes);
        return await discardOnRefusal(
          () => discardUpload({ env, db }, staged),
          () => replaceUpload({ env, db }, { account, id, baseSystem }, staged),
        );
      },
    }),
    call("DELETE /rpms/{rpm_id}", {
      name: "deleteRpm",
      access: "own",
      summary: "Delete an upload; your user repository no longer has it",
      ids,
      answer: success,
      act: ({ env, db, account }, { rpm_id }) => deleteUpload({ env, db }, account, rpm_id),
    }),
    call("GET /rpms/{rpm_id}/data", {
      name: "downloadRpm",
      access: "own",
      isForAll: true,
      summary: "The file of an upload",
      ...ofUpload,
      answer: file("What was uploaded.", ...Object.values(contentTypes)),
      act: ({ env }, { found: { blobId, size, sha256, isArchive, packages, fileName } }, c) =>
        answerBlob(c.req.raw, {
          size,
          etag: `"${sha256}"`,
          contentType: contentTypes[isArchive ? "archive" : typeOfUpload(packages)],
          fileName,
          read: openerFor(env, readerOf(c))(uploadKey(blobId)),
        }),
    }),
  ],
};

/** Stores the file of the request while it arrives. */
async function receive(c: Context<ApiEnv>, replacedBytes = 0) {
  refuseLongBody(c, tooLarge);
  const { db, account } = c.var;
  const { fields, stored } = await receiveUpload<StagedUpload>(c.req.raw, {
    store: (file) => stageUpload({ env: c.env, db }, { account, replacedBytes }, file),
    discard: (staged) => discardUpload({ env: c.env, db }, staged),
  }).catch(damagedForm("invalid_file"));
  if (!stored) throw new Refusal("missing_parameter", { message: "The parameter file is missing." });
  return { sent: withoutEmpty(fields), staged: stored };
}
