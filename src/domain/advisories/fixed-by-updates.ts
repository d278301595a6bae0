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
 * The advisories that are fixed by the repositories' newer versions. A feed names the version of the source package
 * with the fix. If a package does not have its source's version, any newer version of it counts as the fix, because the
 * source's version is unknown.
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
