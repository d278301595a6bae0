import type { PackageType } from "#lib/contract/index";
import { compareVersions, type Affected } from "#domain/advisories/affected";
import type { PackageUpdate } from "#model/image-updates";
import type { ListedPackage } from "#storage/image-packages";

interface Known {
  installed: readonly ListedPackage[];
  updates: readonly PackageUpdate[];
  type: PackageType;
}

/**
 * The advisories that the repositories' newer versions fix. A feed knows the version of the source package that has the fix.
 * Packages that do not have their source's version are fixed by any newer one, because theirs is unknown.
 */
export function fixedByUpdates<One extends Affected>(
  advisories: readonly One[],
  { installed, updates, type }: Known,
): One[] {
  const available = Map.groupBy(updates, ({ name }) => name);
  const hasOwnVersion = new Set(
    installed.filter(({ version, sourceVersion }) => version !== sourceVersion).map(({ name }) => name),
  );
  return advisories.filter(
    ({ state, fixed, packages }) =>
      state === "fixed" &&
      fixed !== undefined &&
      packages.some((name) =>
        available.get(name)?.some((one) => hasOwnVersion.has(name) || compareVersions(one.available, fixed, type) >= 0),
      ),
  );
}
