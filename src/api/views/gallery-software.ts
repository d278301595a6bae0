import type { PublishedItem, PublishedSoftware } from "#domain/gallery/published";
import { marked, XmlList, type XmlFields, type XmlMarked } from "#wire/xml";

/** What a published version holds, with where it came from (wire.md §2.16). */
export function publishedSoftwareFields(applianceId: number, software: PublishedSoftware): XmlFields {
  const { repositories, selected, installed } = software;
  const nameOf = (place: number) => repositories[place]?.name ?? "";
  return {
    id: applianceId,
    repositories: new XmlList(
      "repository",
      repositories.map(({ name, trusted }) => marked({ trusted }, name)),
      { count: repositories.length },
    ),
    selected_software: itemsFields(selected, nameOf),
    installed_software: itemsFields(installed, nameOf),
  };
}

/** Packages, then patterns, in one list. */
function itemsFields(items: readonly PublishedItem[], nameOf: (place: number) => string): XmlMarked {
  const ofKind = (wanted: PublishedItem["kind"]) =>
    items
      .filter(({ kind }) => kind === wanted)
      .map(({ name, version, repository }) => marked({ repository: nameOf(repository), version }, name));
  return marked({ count: items.length }, { package: ofKind("package"), pattern: ofKind("pattern") });
}
