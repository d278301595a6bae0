import type { ModifiedFile, ModifiedList } from "#contract/index";
import type { Kept } from "#domain/testdrives/keep-modified-files";
import { shownPermissions } from "#domain/contents/overlay-file-metadata";
import { arrayOf, type XmlFields } from "#wire/xml";
import { filesFields } from "#api/views/file";
import type { ApiVersion } from "#api/versions";

const types: Record<ModifiedFile["type"], string> = {
  f: "file",
  d: "directory",
  l: "link",
  c: "character_device",
  b: "block_device",
  p: "fifo",
  s: "socket",
};

export const modifiedFileTypes = Object.values(types);

/** One name that is not what the image has there. */
const modifiedFileFields = (file: ModifiedFile): XmlFields => ({
  change: file.change,
  path: file.path,
  type: types[file.type],
  permissions: shownPermissions(file.mode),
  owner: file.owner ?? String(file.uid),
  group: file.group ?? String(file.gid),
  size: file.size,
  content_changed: file.content,
  target: file.target,
  difference: file.difference,
});

export const modifiedFilesFields = ({ files, truncated, unnamed }: ModifiedList): XmlFields => ({
  truncated,
  unnamed,
  files: arrayOf("file", files.map(modifiedFileFields)),
});

/** The overlay files that have come of it, and what could not. */
export const keptFilesFields = (
  { applianceId, files, leftOut }: Kept,
  viewer: { baseUrl: string; version: ApiVersion },
): XmlFields => ({
  appliance_id: applianceId,
  files: filesFields(files, viewer),
  left_out: arrayOf(
    "file",
    leftOut.map(({ path, reason }) => ({ path, reason })),
  ),
});
