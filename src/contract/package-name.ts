/** A package as rpm identifies it. The epoch is a number or rpm's own text, which is "(none)" or "0" where there is none. */
interface Identity {
  name: string;
  epoch?: number | string | undefined;
  version: string;
  /** Empty: it has none. */
  release: string;
  arch: string;
}

export const hasEpoch = (epoch: Identity["epoch"]): boolean => Number(epoch ?? 0) > 0;

/** `1:2.0-3`: the version as rpm compares it, the epoch only if there is one. */
export const evr = ({ epoch, version, release }: Pick<Identity, "epoch" | "version" | "release">): string =>
  `${hasEpoch(epoch) ? `${epoch}:` : ""}${version}${release && `-${release}`}`;

/** `name-1:2.0-3.arch`: tells any two packages apart. */
export const nevra = (one: Identity): string => `${one.name}-${evr(one)}.${one.arch}`;

/**
 * `name-2.0-3.arch`: how people call a package, and its file is called. By this a package of an image is found among the
 * frozen ones, since rpm leaves the epoch of most packages out.
 */
export const nvra = ({ name, version, release, arch }: Omit<Identity, "epoch">): string =>
  nevra({ name, version, release, arch });
