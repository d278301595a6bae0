import type { RefusalCode } from "#domain/refusal";
import { v2, xml, type Body, type Operation } from "#openapi/operation";
import { success } from "#openapi/shapes/general";
import { publication, publishedVersions, releaseNotesDraft } from "#openapi/shapes/gallery";

const releaseNotes: Body = {
  kind: "text",
  what: "Release notes, as plain text whatever the Content-Type; may be empty.",
};
const path = "/gallery/appliances/{appliance_id}/version/{version}";
const ofVersion = {
  path,
  versions: v2,
  unknown: ["invalid_appliance_id", "version_not_published"] as RefusalCode[],
} satisfies Partial<Operation>;

/** Published versions, and publishing them. */
export const galleryVersions: readonly Operation[] = [
  {
    name: "getPublication",
    method: "GET",
    path: "/gallery/appliances/{appliance_id}",
    versions: v2,
    summary: "The version that was published last",
    answer: xml(publication),
    unknown: ["invalid_appliance_id", "version_not_published"],
    refusals: ["access_denied"],
  },
  {
    name: "listPublishedVersions",
    method: "GET",
    path: "/gallery/appliances/{appliance_id}/versions",
    versions: v2,
    summary: "Published versions, the oldest first",
    answer: xml(publishedVersions),
    unknown: ["invalid_appliance_id", "version_not_published"],
    refusals: ["access_denied"],
  },
  {
    name: "getPublishedVersion",
    method: "GET",
    ...ofVersion,
    summary: "A published version",
    answer: xml(publication),
    refusals: ["access_denied", "missing_version", "invalid_version"],
  },
  {
    name: "draftReleaseNotes",
    method: "GET",
    ...ofVersion,
    path: `${path}/release_notes_draft`,
    unknown: ["invalid_appliance_id"],
    summary:
      "A draft of release notes for a version of yours: what has changed since the one that was published before",
    details: "Nothing is stored: publish the version with the draft, or with what you have made of it.",
    answer: { kind: "document", document: releaseNotesDraft, asText: true },
    refusals: ["access_denied", "invalid_version", "build_not_found"],
  },
  {
    name: "publishVersion",
    method: "POST",
    ...ofVersion,
    unknown: ["invalid_appliance_id"],
    summary: "Publish a version that was built",
    body: releaseNotes,
    answer: xml(publication),
    refusals: [
      "missing_version",
      "invalid_version",
      "version_published",
      "sle_agreement_missing",
      "invalid_value",
      "build_not_found",
    ],
  },
  {
    name: "changeReleaseNotes",
    method: "PUT",
    ...ofVersion,
    summary: "Change its release notes",
    body: releaseNotes,
    answer: xml(publication),
    refusals: ["missing_version", "invalid_version", "invalid_value"],
  },
  {
    name: "unpublishVersion",
    method: "DELETE",
    ...ofVersion,
    summary: "Take it out of the gallery",
    answer: xml(success),
    refusals: ["missing_version", "invalid_version"],
  },
];
