import { arrayOf, type XmlFields } from "#wire/xml";
import type { ApiVersion } from "#api/versions";
import type { ApplianceWithBuilds, ListedBuild } from "#storage/appliance-builds";

export interface Viewer {
  baseUrl: string;
  version: ApiVersion;
}

/** The element `appliance` (wire.md §2.3); a shell client depends on the order. */
export function applianceFields({ appliance, builds }: ApplianceWithBuilds, { baseUrl, version }: Viewer): XmlFields {
  return {
    id: appliance.id,
    name: appliance.name,
    arch: appliance.arch,
    type: appliance.imageType,
    last_edited: appliance.lastEditedAt,
    estimated_raw_size: estimate(appliance.estimatedRawMb),
    estimated_compressed_size: estimate(appliance.estimatedCompressedMb),
    edit_url: `${baseUrl}/appliance/edit/${appliance.id}`,
    icon_url: version.name === "v1" ? `${baseUrl}/api/v1/user/appliance_icon/${appliance.id}` : undefined,
    basesystem: appliance.baseSystem,
    uuid: appliance.uuid,
    // Absent on templates, and only there.
    parent:
      appliance.parentId === null
        ? undefined
        : { id: appliance.parentId, name: appliance.parentName ?? appliance.name },
    builds: arrayOf(
      "build",
      builds.map((build) => listedBuildFields(build, baseUrl)),
    ),
  };
}

function listedBuildFields(build: ListedBuild, baseUrl: string): XmlFields {
  return {
    id: build.id,
    version: build.version,
    image_type: build.imageType,
    image_size: megabytes(build.rawSize),
    compressed_image_size: build.compressed ? megabytes(build.fileSize) : 0,
    download_url: `${baseUrl}/download/${build.downloadToken}/${build.fileName}`,
  };
}

/** Whole mebibytes, as all sizes of builds are told. */
export const megabytes = (bytes: number | null): number => Math.round((bytes ?? 0) / 1024 ** 2);

/** `610 MB`: the original showed multiples of ten. */
const estimate = (exactMb: number): string => `${Math.max(10, Math.round(exactMb / 10) * 10)} MB`;
