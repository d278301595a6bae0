/** A package of an upload, as its row stores it; the whole header is in R2. */
export interface StoredPackage {
  /** `name-epoch:version-release.arch`: two packages with the same value are one package that was built twice. */
  nevra: string;
  /** The file name that rpm, or Debian, gives it. */
  fileName: string;
}
