import type { Context } from "hono";
import { z } from "zod";
import { resumableUpload, resumableUploads } from "#documents/resumable-upload";
import { refuseMakingIn } from "#domain/accounts/access";
import { metadataNames, parseMetadata } from "#domain/contents/overlay-file-metadata";
import { Refusal } from "#domain/refusal";
import { receive } from "#domain/uploads/receive";
import { beginUpload, deleteUpload, getResumableUpload, type Purpose } from "#domain/uploads/upload";
import { chunkMsOf, untimed } from "#http/request-body";
import { v2 } from "#api/operation";
import { listUnfinishedUploads, type ResumableUpload } from "#storage/resumable-uploads";
import { byMethod, call, nothing, type Caller, type CallGroup } from "#api/call";
import type { ApiEnv } from "#api/factory";
import { id, parseParams, readParams, text } from "#http/params";
import { runToCompletion } from "#http/run-to-completion";
import { bytesIn, bytesType, metadataIn, neededBytesIn } from "#api/tus";

const NewUpload = z.object({
  appliance_id: id("invalid_appliance_id").optional(),
  base_system: text().optional(),
  ...Object.fromEntries(metadataNames.map((name) => [name, z.string().optional()])),
});

const own = { access: "own", versions: v2 } as const;
const ofUpload = {
  ...own,
  ids: { upload_id: "unknown_error" },
  finds: ({ db, account }: Caller, id: number) => getResumableUpload(db, account.id, id),
} as const;

const send = call("PATCH /uploads/{upload_id}", {
  name: "sendBytes",
  rate: "uploads",
  summary: "Send the next bytes of an upload",
  details: "When the request with the last bytes is answered, the file or package exists.",
  ...ofUpload,
  headers: {
    "Upload-Offset": { meaning: "How many bytes are stored.", isRequired: true },
    "Tus-Resumable": { meaning: "`1.0.0`." },
  },
  takes: { kind: "bytes", type: bytesType, what: `Bytes of the file, as \`${bytesType}\`.` },
  answer: nothing("Stored. `Upload-Offset` says how many bytes are there now."),
  refuses: ["missing_parameter", "invalid_value", "invalid_appliance_id", "invalid_file", "unknown_error"],
  reasons: ["wrong_offset", "busy", "too_large", "wrong_type", "wrong_protocol"],
  act: async ({ env, db, account }, { found }, c) => {
    if (c.req.header("content-type") !== bytesType) throw wrongType();
    const offset = neededBytesIn(c, "Upload-Offset");
    const piece = {
      offset,
      announcedBytes: bytesIn(c, "Content-Length"),
      body: untimed(c).body,
      chunkMs: chunkMsOf(env),
    };
    // If the connection breaks, the bytes that have arrived must still be stored.
    c.header("Upload-Offset", String(await runToCompletion(c, receive({ env, db, account }, found, piece))));
    return c.body(null, 204);
  },
});

/** Files that are uploaded in several requests, with tus 1.0. */
export const uploads: CallGroup = {
  title: "Large uploads",
  about: "Files and packages that arrive in several requests, by the protocol tus 1.0.",
  operations: [
    call("GET /uploads", {
      name: "listUploads",
      ...own,
      summary: "Your unfinished uploads",
      answer: resumableUploads,
      act: ({ db, account }) => listUnfinishedUploads(db, account.id),
    }),
    call("POST /uploads", {
      name: "beginUpload",
      ...own,
      rate: "uploads",
      summary: "Begin the upload of an overlay file or a package",
      details: "Send its bytes to the URL in the answer's `Location` header.",
      besideFile: NewUpload,
      about: {
        appliance_id: "Appliance that gets the file as an overlay file.",
        base_system: "Base system that the package is for, if it is a package.",
      },
      headers: {
        "Upload-Length": { meaning: "Size of the file in bytes.", isRequired: true },
        "Upload-Metadata": { meaning: "Parameters that are not in the query, each value in base64." },
        "Tus-Resumable": { meaning: "`1.0.0`." },
      },
      answer: resumableUpload,
      isCreated: true,
      refuses: [
        "invalid_appliance_id",
        "access_denied",
        "invalid_base_system",
        "missing_parameter",
        "invalid_value",
        "unknown_error",
      ],
      reasons: ["too_large", "wrong_protocol"],
      act: async ({ env, db, account, access, requestId }, _request, c) => {
        const length = neededBytesIn(c, "Upload-Length");
        if (length === 0) throw new Refusal("invalid_value", { message: "An empty file is uploaded in one request." });
        const { filename: sentName, ...inHeader } = metadataIn(c);
        const purpose = purposeOf({ ...inHeader, ...(await readParams(c)) }, sentName);
        // The header may name a different appliance than the parameters, which have already been checked.
        refuseMakingIn(access, "applianceId" in purpose ? purpose.applianceId : null);
        const announced = { accountId: account.id, purpose, length, sentName, requestId };
        const upload = await beginUpload({ env, db }, announced);
        c.header("Location", `${c.var.baseUrl}/api/v2/user/uploads/${upload.id}`);
        c.header("Upload-Expires", upload.expiresAt.toUTCString());
        return upload;
      },
    }),
    call("GET /uploads/{upload_id}", {
      name: "getUpload",
      summary: "An upload: how much of it is stored, and what it has become",
      details: "HEAD answers the same in headers.",
      ...ofUpload,
      answer: resumableUpload,
      reasons: ["wrong_protocol"],
      act: (_caller, { found }, c) => {
        setProgressHeaders(c, found);
        return found;
      },
    }),
    send,
    byMethod("POST", send),
    call("DELETE /uploads/{upload_id}", {
      name: "deleteUpload",
      summary: "Cancel an upload; the file or package that it has become stays",
      ...ofUpload,
      answer: nothing("Deleted."),
      reasons: ["busy", "wrong_protocol"],
      act: async ({ env, db }, { found }, c) => {
        await deleteUpload({ env, db }, found);
        return c.body(null, 204);
      },
    }),
  ],
};

function purposeOf(given: Record<string, string>, sentName: string | undefined): Purpose {
  const { appliance_id: applianceId, base_system: baseSystem } = parseParams(NewUpload, given);
  if (applianceId !== undefined && baseSystem === undefined) {
    return { applianceId, metadata: parseMetadata(given, sentName) };
  }
  if (baseSystem !== undefined && applianceId === undefined) return { baseSystem };
  throw new Refusal("missing_parameter", {
    message: "Pass either appliance_id or base_system. It names what the file is for.",
  });
}

function setProgressHeaders(c: Context<ApiEnv>, { offset, length, expiresAt }: ResumableUpload): void {
  c.header("Upload-Offset", String(offset));
  c.header("Upload-Length", String(length));
  c.header("Upload-Expires", expiresAt.toUTCString());
  c.header("Cache-Control", "no-store");
}

const wrongType = () =>
  new Refusal("unknown_error", { reason: "wrong_type", message: `Send the bytes with Content-Type: ${bytesType}.` });
