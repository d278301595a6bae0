export interface ComparedPackage {
  name: string;
  /** The version with its release, and its epoch if it has one. */
  version: string;
  arch: string;
  /** The name of the repository that the package came from. Absent if it came from none of the build's repositories. */
  repository?: string | undefined;
  license?: string | undefined;
  /** The checksum of the package's file. */
  checksum?: string | undefined;
}

/** Something that only one of two images has, or that differs between them. */
export interface Change<T> {
  change: "added" | "removed" | "changed";
  from?: T;
  to?: T;
}

export interface PackageChange extends Change<ComparedPackage> {
  name: string;
}

/**
 * Compares packages, sorted by name. A package that replaces another is a change, even if only the file differs. If an
 * image has several packages of one name, such as kernels, each counts as added or removed.
 */
export function packageDifference(from: readonly ComparedPackage[], to: readonly ComparedPackage[]): PackageChange[] {
  const [before, after] = [byName(from), byName(to)];
  const names = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  return names.flatMap((name) => changesOf(name, before.get(name) ?? [], after.get(name) ?? []));
}

const byName = (packages: readonly ComparedPackage[]) => Map.groupBy(packages, ({ name }) => name);

function changesOf(
  name: string,
  before: readonly ComparedPackage[],
  after: readonly ComparedPackage[],
): PackageChange[] {
  const removed = without(before, after);
  const added = without(after, before);
  const [from, ...moreRemoved] = removed;
  const [to, ...moreAdded] = added;
  if (from && to && moreRemoved.length === 0 && moreAdded.length === 0) return [{ change: "changed", name, from, to }];
  return [
    ...removed.map((one) => ({ change: "removed", name, from: one }) as const),
    ...added.map((one) => ({ change: "added", name, to: one }) as const),
  ];
}

const without = (packages: readonly ComparedPackage[], others: readonly ComparedPackage[]): ComparedPackage[] =>
  packages.filter((one) => !others.some((other) => isSame(one, other)));

/** Whether two packages are the same. An unknown checksum is ignored. */
const isSame = (one: ComparedPackage, other: ComparedPackage): boolean =>
  one.version === other.version &&
  one.arch === other.arch &&
  (one.checksum ?? other.checksum) === (other.checksum ?? one.checksum);

/** Licences that only one of the images has. */
export interface LicenseDifference {
  /** False if one of the builds is older than reports of licences. */
  known: boolean;
  added: string[];
  removed: string[];
}

export function licenseDifference(from: readonly ComparedPackage[], to: readonly ComparedPackage[]): LicenseDifference {
  const [before, after] = [licensesOf(from), licensesOf(to)];
  if (before.size === 0 || after.size === 0) return { known: false, added: [], removed: [] };
  return {
    known: true,
    added: [...after.difference(before)].toSorted(),
    removed: [...before.difference(after)].toSorted(),
  };
}

const licensesOf = (packages: readonly ComparedPackage[]): Set<string> =>
  new Set(packages.flatMap(({ license }) => license ?? []));
