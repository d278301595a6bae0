/** The faults of a repository, an archive or a package from outside. */
export type FaultCode =
  | "not_a_repository" // neither rpm-md nor yast2 nor deb
  | "malformed_metadata" // repomd.xml, content or primary.xml does not follow its format
  | "malformed_package" // the header of an RPM, or the control file of a Debian package
  | "malformed_archive" // a tarball of packages
  | "damaged_compression" // gzip, zstd, xz or bzip2 data cannot be decompressed
  | "unsupported_format" // an unknown compression or checksum
  | "forbidden_location" // a path that leaves the repository
  | "checksum_mismatch"
  | "too_large" // more bytes or packages, or a higher compression ratio, than Kiln or the metadata allows
  | "expired" // the index is no longer valid
  | "bad_signature"; // the signature does not match these bytes

/**
 * The only exception of this folder: the data is wrong, not our code. The message names the file and the number,
 * contains no secret, and may be shown to the user.
 */
export class RepodataFault extends Error {
  override readonly name = "RepodataFault";
  readonly code: FaultCode;
  constructor(code: FaultCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
