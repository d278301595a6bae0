import type { OverlayFile } from "#storage/overlay-files";
import { shownPermissions } from "#lib/contract/file-mode";
import { arrayOf, bool, digest, fields, group, id, int, marked, oneOf, text, url } from "#lib/wire/field";
import { line } from "#lib/wire/leaf";
import type { XmlNode } from "#lib/wire/read-xml";
import { document, type Viewer } from "#lib/wire/shape";
import { anyPartOf } from "#lib/wire/variants";

/** The element `checksum` of files and packages. */
export const md5 = group(
  marked(
    { type: oneOf(({ md5 }: { md5: string }) => md5 && "md5", ["md5"]) },
    digest("md5", "7b1f3a0c5d9e4e0f8a2b6c1d3e5f7a90"),
  ),
).ignored();

type Name = "filename" | "path" | "owner" | "group" | "permissions" | "enabled";

/** The element `file` (compatibility.md, "Overlay files"). Its metadata is read as text here; the domain parses it. */
export const overlayFile = fields({
  id: id("id", 61).ignored(),
  filename: text("fileName", "counter.conf").readInto(given("filename")),
  path: text("path", "/etc").readInto(given("path")),
  owner: text("owner", "root").readInto(given("owner")),
  group: text("group", "root").readInto(given("group")),
  permissions: text(({ permissions }: OverlayFile) => shownPermissions(permissions), "644").readInto(
    given("permissions"),
  ),
  enabled: bool("enabled", true).readInto(given("enabled")),
  size: int("size", 1290).ignored(),
  checksum: md5,
  download_url: url(addressOf, "https://kiln.example.org/api/v2/user/files/61/data").ignored(),
});

export const file = document("File", "file", overlayFile);
export const files = document("Files", "files", arrayOf("file", overlayFile));

/** Omitted or empty values stay as they are. */
export const fileChange = anyPartOf("WantedFile", file);

/** Reads a file name, which may begin or end with a space. Line breaks around it are only layout. */
function given<N extends Name>(name: N) {
  return (node: XmlNode, path: string): Partial<Record<N, string>> => {
    const trimmed = line(node, path);
    const isExact = (name === "filename" || name === "path") && !/[\r\n]/.test(node.exactText);
    const read: Partial<Record<Name, string>> = trimmed === "" ? {} : { [name]: isExact ? node.exactText : trimmed };
    return read as Partial<Record<N, string>>;
  };
}

function addressOf({ id }: OverlayFile, { baseUrl, version }: Viewer): string {
  return `${baseUrl}/api/${version.name}/user/files/${id}/data`;
}
