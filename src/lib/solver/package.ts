/** Packages in the solver's answers. */
import { splitEvr } from "./evr-order.ts";

interface Checksum {
  /** As written in the metadata, e.g. "sha256". */
  type: string;
  value: string;
}

export interface Package {
  name: string;
  epoch: number;
  version: string;
  release: string;
  arch: string;
  repository: string;
  downloadSizeBytes: number;
  installSizeBytes: number;
  checksum?: Checksum;
  /** Path below the repository's URL. */
  location?: string;
}

/** A package with the texts that only a full part contains. */
export interface PackageDescription extends Package {
  /** The name of the pattern, if the package represents one. */
  pattern?: string;
  summary: string;
  description: string;
  license: string;
  group: string;
  url: string;
  vendor: string;
}

/** The fields of a package, in the order in which native/package.c writes them. */
export type PackageFields = [
  ...names: [name: string, evr: string, arch: string, repository: string],
  ...sizes: [downloadSizeBytes: number, installSizeBytes: number],
  ...file: [checksumType: string, checksum: string, location: string],
];
export type DescriptionFields = [
  ...PackageFields,
  ...texts: [pattern: string, summary: string, description: string],
  ...origin: [license: string, group: string, url: string, vendor: string],
];

export function packageOf(fields: readonly [...PackageFields, ...unknown[]]): Package {
  const [name, evr, arch, repository, downloadSizeBytes, installSizeBytes, type, value, location] = fields;
  return {
    name,
    ...splitEvr(evr),
    arch,
    repository,
    downloadSizeBytes,
    installSizeBytes,
    ...(value && { checksum: { type, value } }),
    ...(location && { location }),
  };
}

export function descriptionOf(fields: readonly [...DescriptionFields, ...unknown[]]): PackageDescription {
  const [, , , , , , , , , pattern, summary, description, license, group, url, vendor] = fields;
  return { ...packageOf(fields), ...(pattern && { pattern }), summary, description, license, group, url, vendor };
}
