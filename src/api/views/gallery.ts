import type { GalleryPage } from "#domain/gallery/list";
import type { ReleaseNotesDraft } from "#domain/difference/release-notes-draft";
import type { ListedPublication } from "#storage/gallery-list";
import type { Publication } from "#storage/publications";
import { marked, XmlList, type XmlFields } from "#wire/xml";
import { firewall as firewallShape, network as networkShape } from "#documents/configuration";
import { shapeView } from "#wire/view";
import { averageOf } from "#api/views/gallery-opinions";

/** A page of the list; `count` is that of all pages (wire.md §2.16). */
export const galleryPageFields = ({ total, pages, page, entries }: GalleryPage): XmlFields => ({
  appliances: marked({ count: total }, { pages, current_page: page, appliance: entries.map(entryFields) }),
});

/** Exactly these eleven: the Java client rejects any other. */
const entryFields = (entry: ListedPublication): XmlFields => ({
  id: entry.applianceId,
  name: entry.name,
  publisher: entry.publisher,
  username: entry.username,
  homepage: entry.homepage,
  description: entry.description,
  ratings: entry.ratings,
  average_rating: averageOf(entry.averageRating),
  comments: entry.comments,
  based_on: entry.baseSystem,
  date: new Date(entry.publishedAt),
});

/** The element `appliance` of one published version. */
export function publicationFields(publication: Publication): XmlFields {
  const { applianceId, name, version, releaseNotes, homepage, description, definition, formats } = publication;
  const { locale, network, firewall } = definition.configuration;
  return {
    id: applianceId,
    name,
    version,
    release_notes: releaseNotes,
    homepage,
    description,
    publisher: publication.publisher,
    username: publication.username,
    based_on: publication.baseSystem,
    formats: new XmlList(
      "format",
      formats.map(({ imageType, md5 }) => marked({ md5 }, imageType)),
      { count: formats.length },
    ),
    configuration: {
      accounts: new XmlList(
        "account",
        definition.accounts.map(({ user, password }) => ({ user, password })),
        { count: definition.accounts.length },
      ),
    },
    keyboard_layout: locale.keyboardLayout,
    language: locale.language,
    timezone: { location: locale.timezone },
    network: shapeView(networkShape, network),
    firewall: shapeView(firewallShape, firewall),
    security: securityFields(publication),
  };
}

/** What in it did not come from the service's own catalogues. */
function securityFields({ definition, software: { repositories } }: Publication): XmlFields {
  const untrusted = repositories.filter(({ trusted }) => !trusted).map(({ name }) => name);
  const { build, boot, autoyast } = definition.configuration.scripts;
  return {
    sources: { only_trusted: untrusted.length === 0, untrusted_source: untrusted },
    custom_packages: { uses_custom_packages: repositories.some(({ uploads }) => uploads) },
    overlay_files: definition.hasOverlayFiles,
    custom_scripts: [build, boot, autoyast].some(({ enabled }) => enabled),
  };
}

/** `since`: the version that it was compared with; absent: nothing was published before. */
export const releaseNotesDraftFields = (
  { applianceId, version, since }: ReleaseNotesDraft,
  notes: string,
): XmlFields => ({
  id: applianceId,
  version,
  since: since?.from.build.version,
  release_notes: notes,
});
