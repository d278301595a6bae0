import type { RepositorySoftware, ShownPackage } from "#domain/images/installed-software";
import type { SelectionChange } from "#domain/software/software";
import type { Selection } from "#storage/appliances";
import { JsonOnly, marked, XmlList, type XmlMarked, type XmlFields } from "#wire/xml";

/** The element `software`: packages and patterns side by side, `version` only on pinned ones (wire.md §2.7). */
export function softwareFields(applianceId: number, selection: Selection[]): XmlMarked {
  const named = (kind: Selection["kind"]) =>
    selection
      .filter((entry) => entry.kind === kind)
      .map(({ name, version }) => marked(version === null ? {} : { version }, name));
  return marked({ type: "array", appliance_id: applianceId }, { package: named("package"), pattern: named("pattern") });
}

/** What `success` holds after a change of the selection. */
export const selectionChangeFields = (change: SelectionChange): XmlFields => ({
  details: {
    status: {
      state: change.state,
      packages_added: change.packagesAdded,
      packages_removed: change.packagesRemoved,
      // Clients of the original accept no other element here.
      message: change.message === undefined ? undefined : new JsonOnly(change.message),
    },
  },
});

/** The element `software_map`: what an image holds, by repository (wire.md §2.7). */
export const softwareMapFields = (
  applianceId: number,
  repositories: RepositorySoftware[],
  viewer: { baseUrl: string },
): XmlList =>
  new XmlList(
    "repository",
    repositories.map((repository) => repositoryFields(repository, viewer)),
    { type: "array", appliance_id: applianceId },
  );

function repositoryFields({ id, name, url, packages, patterns }: RepositorySoftware, viewer: { baseUrl: string }) {
  const base = url && baseUrlOf(url, viewer);
  const software = marked(
    { type: "array" },
    {
      package: packages.map(packageFields),
      pattern: patterns.map(({ name, version, arch }) => marked({ arch, version }, name)),
    },
  );
  return marked({ ...(base && { base_url: base }), name, id }, { software });
}

const packageFields = ({ name, version, release, arch, checksum }: ShownPackage): XmlMarked =>
  marked(
    {
      arch,
      ...(checksum && { checksum: checksum.value }),
      version: `${version}-${release}`,
      ...(checksum && { checksum_type: checksum.type.toUpperCase() }),
    },
    name,
  );

/** Clients can read the repositories that everybody can; a user repository is served to builders alone. */
export function baseUrlOf(url: string, { baseUrl }: { baseUrl: string }): string | undefined {
  const path = /^service:(\/.*)$/.exec(url)?.[1];
  if (path === undefined) return url;
  return path.startsWith("/repositories/") ? baseUrl + path : undefined;
}
