import type { ImageType } from "#lib/contract/index";
import type { Configuration } from "#lib/configuration/stored";

/** An image of a published version. */
export interface PublishedFormat {
  buildId: number;
  imageType: ImageType;
  md5: string;
}

/** The settings of a published version, without secrets. Its page shows them, and clones start with them. */
export interface PublishedDefinition {
  /** The configuration with every password empty. */
  configuration: Configuration;
  /** The users of the images, who may differ from those of `configuration`. Their password is included only if it is the template's, which is not secret. */
  accounts: { user: string; password: string }[];
  /** Ids of the appliance's repositories in their order. */
  repositoryIds: number[];
  selection: {
    kind: "package" | "pattern" | "ban";
    name: string;
    version: string | null;
    repositoryId: number | null;
  }[];
  gpgKeys: { name: string; target: "rpm"; fingerprint: string; key: string }[];
  hasOverlayFiles: boolean;
  estimatedRawMb: number;
  estimatedCompressedMb: number;
}

export interface PublishedRepository {
  name: string;
  /** Whether it is from a catalogue of the service, not from an account. */
  trusted: boolean;
  /** Whether it contains the uploads of an account. */
  uploads: boolean;
}

export interface PublishedItem {
  kind: "package" | "pattern";
  name: string;
  version: string;
  /** Index in `repositories`; -1 if it comes from none of them. */
  repository: number;
  /** Its size on the disk. Absent if its repository no longer had it, or if published by an older version. */
  bytes?: number;
}

/** The packages in the images of a version. */
export interface PublishedSoftware {
  repositories: PublishedRepository[];
  selected: PublishedItem[];
  installed: PublishedItem[];
}
