import { arches, imageTypes } from "#lib/contract/index";
import type { ApplianceWithBuilds, ListedAppliance } from "#storage/appliance-builds";
import {
  arrayOf,
  fields,
  id,
  inside,
  int,
  oneOf,
  plainListOf,
  text,
  through,
  time,
  url,
  version,
} from "#lib/wire/field";
import { document, type Viewer } from "#lib/wire/shape";
import { compressedSize, downloadUrl, megabytes } from "#documents/build";

type Build = ApplianceWithBuilds["builds"][number];

/** `image_type` comes before `download_url`, because a shell client pairs them as it reads. */
const build = fields({
  id: id("id", 31),
  version: version("version", "0.0.2"),
  image_type: oneOf("imageType", imageTypes, "oem"),
  image_size: int(({ rawSize }: Build) => megabytes(rawSize), 412),
  compressed_image_size: compressedSize,
  download_url: downloadUrl,
});

const isClone = ({ parentId }: ListedAppliance) => parentId !== null;

/** The element `appliance` (compatibility.md, "Appliances"); a shell client depends on the order. */
const shape = fields({
  ...through("appliance", {
    id: id("id", 1004),
    name: text("name", "Reading room"),
    arch: oneOf("arch", arches),
    type: oneOf("imageType", imageTypes, "oem"),
    last_edited: time("lastEditedAt", "2026-03-04T16:20:11Z"),
    estimated_raw_size: text(({ estimatedRawMb }: ListedAppliance) => estimate(estimatedRawMb), "410 MB"),
    estimated_compressed_size: text(
      ({ estimatedCompressedMb }: ListedAppliance) => estimate(estimatedCompressedMb),
      "120 MB",
    ),
    edit_url: url(
      ({ id }: ListedAppliance, { baseUrl }: Viewer) => `${baseUrl}/appliance/edit/${id}`,
      "https://kiln.example.org/appliance/edit/1004",
    ),
    icon_url: url(
      ({ id }: ListedAppliance, { baseUrl }: Viewer) => `${baseUrl}/api/v1/user/appliance_icon/${id}`,
      "https://kiln.example.org/api/v1/user/appliance_icon/1004",
    ).only("v1"),
    basesystem: text("baseSystem", "tiny-1.0"),
    uuid: text("uuid", "6e0a7c0e-2f0b-4a3c-9d5d-0c9a4f2b7e11"),
    parent: inside(
      ({ parentId, parentName, name }: ListedAppliance) => ({ id: parentId ?? 0, name: parentName ?? name }),
      fields({ id: id("id", 1), name: text("name", "Tiny Linux 1.0, just enough OS") }),
    ).when(isClone),
  }),
  builds: inside("builds", arrayOf("build", build)),
});

export const appliance = document("Appliance", "appliance", shape);
export const appliances = document("Appliances", "appliances", arrayOf("appliance", shape));

const solution = fields({
  type: oneOf("type", ["install", "remove"]),
  package: text("package", "kernel-default"),
});

const setting = fields({
  path: text("path", "network/type"),
  value: text("value", "dhcp"),
});

export const applianceStatus = document(
  "ApplianceStatus",
  "status",
  fields({
    state: oneOf("state", ["error", "ok"]),
    issues: inside(
      "issues",
      plainListOf(
        "issue",
        fields({
          type: oneOf("type", ["error", "warning"]),
          text: text("text", "No kernel is selected."),
          solution: inside("solution", solution).optional(),
          setting: inside("setting", setting).inJson(),
          repository: id("repository", 9).inJson(),
        }),
      ),
    ),
  }),
);

/** `610 MB`: the original showed multiples of ten. */
function estimate(exactMb: number): string {
  return `${Math.max(10, Math.round(exactMb / 10) * 10)} MB`;
}
