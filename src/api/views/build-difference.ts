import type { BuildDifference, ComparedBuild, ComparedFiles } from "#domain/difference/builds";
import type { ComparedFile, FileChange } from "#domain/difference/files";
import type { ComparedPackage, LicenseDifference, PackageChange } from "#domain/difference/packages";
import type { SettingChange } from "#domain/difference/settings";
import { arrayOf, type XmlFields } from "#wire/xml";

/** The element `difference` (docs/api/difference.md); `nextUrl`: where the files go on. */
export const buildDifferenceFields = (
  { from, to, packages, licenses, settings }: BuildDifference,
  files: ComparedFiles,
  nextUrl: string | undefined,
): XmlFields => ({
  from: comparedFields(from),
  to: comparedFields(to),
  packages: arrayOf("package", packages.map(packageChangeFields)),
  licenses: licenseFields(licenses),
  settings: arrayOf("setting", settings.map(settingFields)),
  files: {
    state: files.state,
    file: files.state === "gone" ? [] : files.changes.map(fileChangeFields),
    next_url: nextUrl,
  },
});

/** Sizes in bytes: of the disk or medium, and of the file to download. */
const comparedFields = ({ build, input }: ComparedBuild): XmlFields => ({
  build_id: build.id,
  appliance_id: build.applianceId,
  name: input.appliance.name,
  version: build.version,
  image_type: build.imageType,
  raw_size: build.rawSize ?? 0,
  file_size: build.fileSize ?? 0,
});

const packageChangeFields = ({ change, name, from, to }: PackageChange): XmlFields => ({
  change,
  name,
  from: from && packageFields(from),
  to: to && packageFields(to),
});

const packageFields = ({ version, arch, repository, license, checksum }: ComparedPackage): XmlFields => ({
  version,
  arch,
  repository,
  license,
  checksum,
});

const licenseFields = ({ known, added, removed }: LicenseDifference): XmlFields => ({ known, added, removed });

const settingFields = ({ name, item, from, to }: SettingChange): XmlFields => ({ name, item, from, to });

const fileChangeFields = ({ change, path, from, to }: FileChange): XmlFields => ({
  change,
  path,
  from: from && fileFields(from),
  to: to && fileFields(to),
});

const fileFields = ({ type, mode, owner, group, size, sha256, target }: ComparedFile): XmlFields => ({
  type: typeNames[type],
  permissions: mode.toString(8),
  owner,
  group,
  size,
  sha256,
  target,
});

export const typeNames: Record<ComparedFile["type"], string> = {
  f: "file",
  l: "link",
  d: "directory",
  c: "character device",
  b: "block device",
  p: "fifo",
  s: "socket",
};
