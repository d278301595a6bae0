/** What can be wrong with a repository, an archive or a package that came from outside. */
export type FaultCode =
  | "not_a_repository" // neither rpm-md nor yast2 is there
  | "malformed_metadata" // repomd.xml, content, primary.xml: not what the format says
  | "malformed_package" // the header of an RPM
  | "malformed_archive" // a tarball of RPMs
  | "damaged_compression" // gzip, zstd, xz or bzip2 data does not open
  | "unsupported_format" // a compression or checksum we cannot read
  | "forbidden_location" // a path that leaves the repository
  | "checksum_mismatch"
  | "too_large" // more bytes, packages or inflation than we or the metadata allow
  | "bad_signature"; // the signature does not belong to these bytes

/**
 * The one exception of this room: the data is at fault, not we. The message names the file and the number, holds nothing
 * secret and may be shown to the user.
 */
export class RepodataFault extends Error {
  override readonly name = "RepodataFault";
  readonly code: FaultCode;
  constructor(code: FaultCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
