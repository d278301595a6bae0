import type { Context } from "hono";
import { z } from "zod";
import type { ModifiedFilter } from "#lib/contract/index";
import { keptFiles, modifiedFiles as modifiedFilesDocument } from "#documents/modified-file";
import {
  getOwnTestdrive,
  listModified,
  openModified,
  openModifiedArchive,
  type ModifiedContent,
} from "#domain/testdrives/modified-files";
import { saveModifiedFiles } from "#domain/testdrives/keep-modified-files";
import { Refusal } from "#domain/refusal";
import { v2 } from "#api/operation";
import { call, file, type Call, type Caller } from "#api/call";
import { flag, id } from "#http/params";

/** An absolute path in the image. `path` and `except` may be repeated, and include everything below them. */
const path = z.string({ error: "missing_parameter" }).max(4096, "invalid_value");

const ModifiedParams = z.object({ path: path.optional(), except: path.optional() });
const ModifiedListParams = ModifiedParams.extend({ difference: flag.optional() });
const ModifiedDataParams = z.object({ path });
const KeepParams = z.object({
  path,
  except: path.optional(),
  archive: flag.optional(),
  appliance_id: id("invalid_appliance_id").optional(),
});

const pathMeaning = "A path and everything below it. May be repeated. Default: everything.";
const except = "A path to omit, with everything below it. May be repeated.";
const ofTestdrive = {
  access: "own",
  versions: v2,
  rate: "modified_files",
  ids: { testdrive_id: "unknown_error" },
} as const;

/** The files that a testdrive has changed in its image. */
export const modifiedFiles: readonly Call[] = [
  call("GET /testdrives/{testdrive_id}/modified_files", {
    name: "listModifiedFiles",
    ...ofTestdrive,
    summary: "The files that a testdrive has changed in its image",
    details:
      "Read from the testdrive's disk: run `sync` in the guest to see everything. The disk of an ended testdrive " +
      "is deleted after ten minutes, unless the agent's configuration says otherwise.",
    params: ModifiedListParams,
    about: { path: pathMeaning, except },
    answer: modifiedFilesDocument,
    refuses: ["invalid_value", "raw_image_unavailable"],
    act: async (caller, { testdrive_id, difference: withDifferences = true, all }) => {
      const { testdrive, filter } = await read(caller, testdrive_id, all);
      return await listModified(caller.env, testdrive, { filter, withDifferences });
    },
  }),
  call("GET /testdrives/{testdrive_id}/modified_files/data", {
    name: "getModifiedFile",
    ...ofTestdrive,
    summary: "A changed file, as it is now",
    params: ModifiedDataParams,
    about: { path: "Path of a regular file; links are not followed." },
    answer: file("The file.", "application/octet-stream"),
    refuses: ["missing_parameter", "invalid_value", "invalid_path", "raw_image_unavailable"],
    act: async (caller, { testdrive_id, path, all }, c) => {
      const { testdrive } = await read(caller, testdrive_id, all);
      const content = await openModified(caller.env, testdrive, { path: imagePath(path) });
      return await bytes(c, content, "application/octet-stream");
    },
  }),
  call("GET /testdrives/{testdrive_id}/modified_files/archive", {
    name: "getModifiedArchive",
    ...ofTestdrive,
    summary: "All added or changed files, as an archive",
    params: ModifiedParams,
    about: { path: pathMeaning, except },
    answer: file("A tar.gz with owners and modes; deleted files are not in it.", "application/gzip"),
    refuses: ["invalid_value", "raw_image_unavailable"],
    act: async (caller, { testdrive_id, all }, c) => {
      const { testdrive, filter } = await read(caller, testdrive_id, all);
      return await bytes(c, await openModifiedArchive(caller.env, testdrive, filter), "application/gzip");
    },
  }),
  call("POST /testdrives/{testdrive_id}/modified_files/keep", {
    name: "keepModifiedFiles",
    ...ofTestdrive,
    summary: "Store added or changed files as overlay files: all of them, or none",
    details:
      "Each replaces an overlay file at the same path. Only regular files can be overlay files. A file with a caution " +
      "is stored only if a path names it. The answer names what was omitted. At most 200 files in one request.",
    params: KeepParams,
    about: {
      path: "A path and everything below it. May be repeated. `/` means everything.",
      except,
      appliance_id: "Your appliance that gets the files. Default: the one whose build runs.",
    },
    answer: keptFiles,
    refuses: [
      "missing_parameter",
      "missing_appliance_id",
      "invalid_appliance_id",
      "invalid_value",
      "invalid_path",
      "raw_image_unavailable",
      "unknown_error",
    ],
    act: async (caller, { testdrive_id, archive: asArchive = false, appliance_id: applianceId, all }) => {
      const { testdrive, filter } = await read(caller, testdrive_id, all);
      const target = { env: caller.env, db: caller.db, accountId: caller.account.id };
      return await saveModifiedFiles(target, testdrive, { filter, asArchive, applianceId });
    },
  }),
];

const maxPaths = 200;

async function read({ db, account }: Caller, testdriveId: number, all: (name: string) => string[]) {
  const testdrive = await getOwnTestdrive(db, account.id, testdriveId);
  const filter: ModifiedFilter = { paths: all("path").map(imagePath), except: all("except").map(imagePath) };
  if (filter.paths.length > maxPaths || filter.except.length > maxPaths) {
    throw new Refusal("invalid_value", { message: `At most ${maxPaths} paths in one request.` });
  }
  return { testdrive, filter };
}

/** An absolute path in the image, without `.`, double slashes and a trailing slash. `..` is always refused. */
export function imagePath(text: string): string {
  const steps = text.split("/").filter((step) => step !== "" && step !== ".");
  if (!text.startsWith("/") || steps.includes("..") || text.length > 4096 || /[\u0000-\u001f\u007f]/.test(text)) {
    throw new Refusal("invalid_value", { message: "A path must be absolute, without .., such as /etc/motd." });
  }
  return `/${steps.join("/")}`;
}

/** A file of a guest, which browsers must not show. */
async function bytes(c: Context, { size, body }: ModifiedContent, contentType: string): Promise<Response> {
  const headers = {
    "content-type": contentType,
    "content-disposition": "attachment",
    "content-encoding": "identity",
    ...(size === undefined ? {} : { "content-length": String(size) }),
  };
  if (c.req.method !== "HEAD") return new Response(body, { headers });
  await body.cancel();
  return new Response(null, { headers });
}
