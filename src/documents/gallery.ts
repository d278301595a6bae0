import { arches, imageTypes } from "#lib/contract/index";
import type { ReleaseNotesDraft } from "#domain/difference/release-notes-draft";
import type { GalleryPage } from "#domain/gallery/list";
import type { ListedPublication } from "#storage/gallery-list";
import type { Publication } from "#storage/publications";
import {
  bool,
  countedOf,
  digest,
  fields,
  group,
  id,
  inside,
  int,
  marked,
  oneOf,
  repeated,
  text,
  through,
  time,
  version,
} from "#lib/wire/field";
import * as leaves from "#lib/wire/leaf";
import { document } from "#lib/wire/shape";
import { firewall, locale, network } from "#lib/configuration/document";
import { releaseNotesText } from "#documents/release-notes-text";
import { averageOf } from "#documents/gallery-opinions";
import { advisoryCounts } from "#documents/build-advisories";
import { reached } from "#documents/testdrive";

/** XML has exactly these eleven elements: the Java client rejects any other. */
const entry = fields({
  id: id(({ applianceId }: ListedPublication) => applianceId, 1004),
  name: text("name", "Reading room"),
  publisher: text("publisher", "Mira Lenz"),
  username: text("username", "mira"),
  homepage: text("homepage", "https://reading.example.org"),
  description: text("description", "One screen, no login."),
  ratings: int("ratings", 3),
  average_rating: text(({ averageRating }: ListedPublication) => averageOf(averageRating), "4.33333333333333"),
  comments: int("comments", 2),
  based_on: text(({ baseSystem }: ListedPublication) => baseSystem, "tiny-1.0"),
  date: time(({ publishedAt }: ListedPublication) => new Date(publishedAt), "2026-03-05T09:00:00Z"),
  advisories: inside("advisories", fields(advisoryCounts)).inJson(),
});

/** A page of the list. `count` is the number on all pages (compatibility.md, "Gallery"). */
const page = marked(
  { count: int(({ total }: GalleryPage) => total, 1) },
  fields({ pages: int("pages", 1), current_page: int("page", 1), appliance: repeated("entries", entry) }),
);

export const galleryPage = document("GalleryPage", "gallery", fields({ appliances: group(page) }));

const format = marked({ md5: digest("md5", "7b1f3a0c5d9e4e0f8a2b6c1d3e5f7a90") }, oneOf("imageType", imageTypes));

const account = fields({ user: text("user", "clerk"), password: text("password", "quiet please") });

type Contents = Pick<Publication, "definition" | "software">;

const namesOfUntrusted = ({ software: { repositories } }: Contents): string[] =>
  repositories.filter(({ trusted }) => !trusted).map(({ name }) => name);

function hasScripts({ definition }: Contents): boolean {
  const { build, boot, autoyast } = definition.configuration.scripts;
  return [build, boot, autoyast].some(({ enabled }) => enabled);
}

/** The parts of a version that did not come from the service's own catalogues. */
const security = fields({
  sources: group(
    fields({
      only_trusted: bool((contents: Contents) => namesOfUntrusted(contents).length === 0, false),
      untrusted_source: repeated(namesOfUntrusted, leaves.text("mira Tiny Linux 1.0")),
    }),
  ),
  custom_packages: group(
    fields({
      uses_custom_packages: bool(
        ({ software }: Contents) => software.repositories.some(({ uploads }) => uploads),
        true,
      ),
    }),
  ),
  overlay_files: bool(({ definition }: Contents) => definition.hasOverlayFiles, true),
  custom_scripts: bool(hasScripts, false),
});

/** One published version. */
const appliance = fields({
  id: id("applianceId", 1004),
  name: text("name", "Reading room"),
  version: version("version", "0.0.2"),
  release_notes: text("releaseNotes", "The clock is right now."),
  homepage: text("homepage", "https://reading.example.org"),
  description: text("description", "One screen, no login."),
  publisher: text("publisher", "Mira Lenz"),
  username: text("username", "mira"),
  based_on: text("baseSystem", "tiny-1.0"),
  arch: oneOf("arch", arches).inJson(),
  formats: inside("formats", countedOf("format", format)),
  ...through("definition", {
    configuration: group(fields({ accounts: inside("accounts", countedOf("account", account)) })),
    ...through("configuration", {
      ...through("locale", locale),
      network: inside("network", network),
      firewall: inside("firewall", firewall),
    }),
  }),
  security: group(security),
});

export const publication = document("Publication", "gallery", fields({ appliance: group(appliance) }));

const versions = fields({ versions: group(countedOf("version", leaves.version("0.0.2"))) });

export const publishedVersions = document("PublishedVersions", "gallery", fields({ appliance: group(versions) }));

/** `since` is the version that it was compared with. Absent if no version was published before. */
const draft = fields({
  id: id("applianceId", 1004),
  version: version("version", "0.0.3"),
  since: version(({ since }: ReleaseNotesDraft) => since?.from.build.version, "0.0.2").optional(),
  release_notes: text(releaseNotesText, "Changes since version 0.0.2"),
});

export const releaseNotesDraft = document("ReleaseNotesDraft", "gallery", fields({ appliance: group(draft) }));

export const galleryTestdrive = document("GalleryTestdrive", "gallery", fields({ testdrive: group(fields(reached)) }));
