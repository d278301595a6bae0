import { shownPermissions } from "#domain/contents/overlay-file-metadata";
import type { OverlayFile } from "#storage/overlay-files";
import { arrayOf, marked, type XmlFields, type XmlList } from "#wire/xml";
import type { ApiVersion } from "#api/versions";

interface Viewer {
  baseUrl: string;
  version: ApiVersion;
}

/** The element `file` (wire.md §2.10). */
export const fileFields = (file: OverlayFile, { baseUrl, version }: Viewer): XmlFields => ({
  id: file.id,
  filename: file.fileName,
  path: file.path,
  owner: file.owner,
  group: file.group,
  permissions: shownPermissions(file.permissions),
  enabled: file.enabled,
  size: file.size,
  checksum: marked({ type: "md5" }, file.md5),
  download_url: `${baseUrl}/api/${version.name}/user/files/${file.id}/data`,
});

export const filesFields = (files: readonly OverlayFile[], viewer: Viewer): XmlList =>
  arrayOf(
    "file",
    files.map((file) => fileFields(file, viewer)),
  );
