/** A package of an upload, as its row stores it; the whole header is in R2. */
export interface StoredPackage {
  /** `name-epoch:version-release.arch`: two packages of that name are the same one, built twice. */
  nevra: string;
  /** The file name that rpm, or Debian, gives it. */
  fileName: string;
}
