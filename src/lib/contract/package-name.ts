/** A package as rpm identifies it. The epoch is a number or rpm's text, which is "(none)" or "0" if there is none. */
interface Identity {
  name: string;
  epoch?: number | string | undefined;
  version: string;
  /** Empty if there is none. */
  release: string;
  arch: string;
}

export const hasEpoch = (epoch: Identity["epoch"]): boolean => Number(epoch ?? 0) > 0;

/** `1:2.0-3`: the version as rpm compares it, the epoch only if there is one. */
export const evr = ({ epoch, version, release }: Pick<Identity, "epoch" | "version" | "release">): string =>
  `${hasEpoch(epoch) ? `${epoch}:` : ""}${version}${release && `-${release}`}`;

/** `2.0-3`: without the epoch. Native packages of Debian have no release. */
export const versionRelease = ({ version, release }: Pick<Identity, "version" | "release">): string =>
  evr({ version, release });

/** `name-1:2.0-3.arch`: unique for each package. */
export const nevra = (one: Identity): string => `${one.name}-${evr(one)}.${one.arch}`;

/**
 * `name-2.0-3.arch`: the usual name of a package and its file. A package in an image is matched with its frozen one by this name,
 * because rpm omits the epoch of most packages.
 */
export const nvra = ({ name, version, release, arch }: Omit<Identity, "epoch">): string =>
  nevra({ name, version, release, arch });
