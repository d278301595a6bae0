import { KeepParams, ModifiedDataParams, ModifiedListParams, ModifiedParams } from "#api/modified-files";
import { v2, xml, type Operation } from "#openapi/operation";
import { keptFiles, modifiedFiles as modifiedFilesDocument } from "#openapi/shapes/modified-file";

const path = "A path, and all that is below it; may be repeated. All when left out.";
const except = "A path that is left out with all that is below it; may be repeated.";

/** What a session has changed, in the group of the testdrives. */
export const modifiedFiles: readonly Operation[] = [
  {
    name: "listModifiedFiles",
    method: "GET",
    path: "/testdrives/{testdrive_id}/modified_files",
    versions: v2,
    summary: "What a running or ended session has otherwise than its image",
    details:
      "Read from the session's disk: what the guest has not written there yet is not seen, so run sync in it. An ended session's " +
      "disk is kept for a while, ten minutes where the agent is not configured otherwise.",
    params: ModifiedListParams,
    about: { path, except },
    answer: xml(modifiedFilesDocument),
    unknown: ["unknown_error"],
    refusals: ["invalid_value", "raw_image_unavailable"],
  },
  {
    name: "getModifiedFile",
    method: "GET",
    path: "/testdrives/{testdrive_id}/modified_files/data",
    versions: v2,
    summary: "A file of the session, as it is now",
    params: ModifiedDataParams,
    about: { path: "Path of a regular file; links are not followed." },
    answer: { kind: "file", types: ["application/octet-stream"], what: "The file." },
    unknown: ["unknown_error"],
    refusals: ["missing_parameter", "invalid_value", "invalid_path", "raw_image_unavailable"],
  },
  {
    name: "getModifiedArchive",
    method: "GET",
    path: "/testdrives/{testdrive_id}/modified_files/archive",
    versions: v2,
    summary: "All that was added or changed, as an archive",
    params: ModifiedParams,
    about: { path, except },
    answer: {
      kind: "file",
      types: ["application/gzip"],
      what: "A tar.gz with owners and modes; deleted files are not in it.",
    },
    unknown: ["unknown_error"],
    refusals: ["invalid_value", "raw_image_unavailable"],
  },
  {
    name: "keepModifiedFiles",
    method: "POST",
    path: "/testdrives/{testdrive_id}/modified_files/keep",
    versions: v2,
    summary: "Make overlay files of what was added or changed: all of them, or none",
    details:
      "Each takes the place of an overlay file at the same path. Only regular files are overlay files; the answer names what is " +
      "left out. At most 200 at once.",
    params: KeepParams,
    about: {
      path: "A path, and all that is below it; may be repeated. / means everything.",
      except,
      appliance_id: "Where to keep them: one of your appliances. The one whose build runs, when left out.",
    },
    answer: xml(keptFiles),
    unknown: ["unknown_error"],
    refusals: [
      "missing_parameter",
      "missing_appliance_id",
      "invalid_appliance_id",
      "invalid_value",
      "invalid_path",
      "raw_image_unavailable",
      "unknown_error",
    ],
  },
];
