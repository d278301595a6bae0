import type { MetadataPart } from "./repomd.ts";
import type { Signer, SigningKey } from "./signature.ts";

/**
 * Fetches a file of the repository; undefined if it does not exist. The implementation decides which addresses are
 * allowed.
 */
export type Download = (path: string) => Promise<ReadableStream<Uint8Array> | undefined>;

/** A repository whose index is read and checked. No large file has been fetched yet. */
export interface OpenedRepository {
  type: "rpm-md" | "yast2" | "deb";
  /** SHA-256 of the index. The index lists the checksum of every other file, so this identifies the whole revision. */
  revision: string;
  /** Undefined if it is not signed. */
  signer: Signer | undefined;
  /**
   * The public keys next to the signature, including the signer's, and those that the signed index names. Empty if
   * unsigned.
   */
  keys: SigningKey[];
  /** The distributions that the repository is for, as its index states. */
  distributions: { cpeId?: string; name: string }[];
  /** One list; deb has one for each component and architecture. */
  packages: RepositoryPart[];
  /** The names of the only packages to read. Absent if all are read. */
  only?: readonly string[];
  /** The folder that package locations are relative to; empty for the repository's root. */
  packagesFolder: string;
  /** yast2 has summaries and descriptions in a separate file, and patterns in one or many files. */
  descriptions?: RepositoryPart;
  patterns: RepositoryPart[];
  updateinfo?: RepositoryPart;
}

/** A large file of the repository, and the checksums and sizes that it must have. */
export type RepositoryPart = Pick<MetadataPart, "path" | "checksum" | "openChecksum" | "sizeBytes" | "openBytes">;
