import type { ImageType } from "#lib/contract/index";
import type { Configuration } from "#lib/configuration/stored";

/** An image of a published version. */
export interface PublishedFormat {
  buildId: number;
  imageType: ImageType;
  md5: string;
}

/** What a published version was made from. Its page shows it, and clones start with it. No secrets. */
export interface PublishedDefinition {
  /** Every password empty. */
  configuration: Configuration;
  /** Who can log in; with a password only if it is the template's, which is not secret. */
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
  /** From a catalogue of the service, not from an account. */
  trusted: boolean;
  /** Holds the uploads of an account. */
  uploads: boolean;
}

export interface PublishedItem {
  kind: "package" | "pattern";
  name: string;
  version: string;
  /** Place in `repositories`; -1: from none of them. */
  repository: number;
}

/** What is in the images of a version. */
export interface PublishedSoftware {
  repositories: PublishedRepository[];
  selected: PublishedItem[];
  installed: PublishedItem[];
}
