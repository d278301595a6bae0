import type { SelectionChange } from "#domain/software";
import type { Selection } from "#storage/appliances";
import { marked, type XmlMarked, type XmlFields } from "#xml/write";

/** The element `software`: packages and patterns side by side, `version` only on pinned ones (wire.md §2.7). */
export function softwareFields(applianceId: number, selection: Selection[]): XmlMarked {
  const named = (kind: Selection["kind"]) =>
    selection
      .filter((entry) => entry.kind === kind)
      .map(({ name, version }) => (version === null ? name : marked({ version }, name)));
  return marked(
    { type: "array", appliance_id: String(applianceId) },
    { package: named("package"), pattern: named("pattern") },
  );
}

/** What `success` holds after a change of the selection. */
export const selectionChangeFields = (change: SelectionChange): XmlFields => ({
  details: {
    status: {
      state: change.state,
      packages_added: change.packagesAdded,
      packages_removed: change.packagesRemoved,
    },
  },
});
