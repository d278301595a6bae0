import { releaseNotesText } from "#documents/release-notes-text";
import { publication, publishedVersions as publishedVersionsDocument, releaseNotesDraft } from "#documents/gallery";
import { success } from "#documents/success";
import { draftReleaseNotes } from "#domain/difference/release-notes-draft";
import { getPublication } from "#domain/gallery/access";
import { changeReleaseNotes, publish, publishedVersions, unpublish } from "#domain/gallery/publish";
import { call, rawText, type Call } from "#api/call";
import { linkWarnings } from "#api/sharing";
import { ofAppliance, ofPublished } from "#api/gallery/of-appliance";

const releaseNotes = rawText("Release notes, as plain text whatever the Content-Type; may be empty.");

/** Published versions, and how to publish one. */
export const galleryVersions: readonly Call[] = [
  call("GET /gallery/appliances/{appliance_id}", {
    name: "getPublication",
    ...ofPublished,
    summary: "A published appliance: the version that was published last",
    answer: publication,
    refuses: ["access_denied"],
    act: ({ db, account }, { appliance_id: applianceId }) => getPublication(db, account.id, { applianceId }),
  }),
  call("GET /gallery/appliances/{appliance_id}/versions", {
    name: "listPublishedVersions",
    ...ofPublished,
    summary: "Published versions, oldest first",
    answer: publishedVersionsDocument,
    refuses: ["access_denied"],
    act: ({ db, account }, { appliance_id }) => publishedVersions(db, account.id, appliance_id),
  }),
  call("GET /gallery/appliances/{appliance_id}/version/{version}", {
    name: "getPublishedVersion",
    ...ofPublished,
    summary: "A published version",
    answer: publication,
    refuses: ["access_denied", "missing_version", "invalid_version"],
    act: ({ db, account }, { appliance_id: applianceId, version }) =>
      getPublication(db, account.id, { applianceId, version }),
  }),
  call("GET /gallery/appliances/{appliance_id}/version/{version}/release_notes_draft", {
    name: "draftReleaseNotes",
    rate: "reads",
    ...ofAppliance,
    access: "own",
    summary: "A draft of release notes: what has changed since the version published before",
    details: "Nothing is stored. Publish the version with the draft, or with your own text.",
    answer: releaseNotesDraft,
    asText: releaseNotesText,
    refuses: ["access_denied", "invalid_version", "build_not_found"],
    act: ({ env, db, account }, { appliance_id: applianceId, version }) =>
      draftReleaseNotes({ env, db }, account, { applianceId, version }),
  }),
  call("POST /gallery/appliances/{appliance_id}/version/{version}", {
    name: "publishVersion",
    audit: { event: "version.published", detail: ({ appliance_id, version }) => ({ appliance_id, version }) },
    rate: "publications",
    scope: "publish",
    ...ofAppliance,
    access: "own",
    summary: "Publish a built version",
    takes: releaseNotes,
    answer: publication,
    refuses: [
      "missing_version",
      "invalid_version",
      "version_published",
      "sle_agreement_missing",
      "invalid_value",
      "build_not_found",
    ],
    act: async ({ env, db, account, baseUrl, requestId }, { appliance_id: applianceId, version, body }, c) => {
      const request = { applianceId, version, releaseNotes: await body(), baseUrl, requestId };
      const published = await publish({ env, db }, account, request);
      linkWarnings(c, applianceId, version);
      return published;
    },
  }),
  call("PUT /gallery/appliances/{appliance_id}/version/{version}", {
    name: "changeReleaseNotes",
    rate: "publications",
    scope: "publish",
    ...ofPublished,
    access: "own",
    summary: "Change the release notes of a published version",
    takes: releaseNotes,
    answer: publication,
    refuses: ["missing_version", "invalid_version", "invalid_value"],
    act: async ({ db, account }, { appliance_id: applianceId, version, body }) =>
      changeReleaseNotes(db, account, { applianceId, version, releaseNotes: await body() }),
  }),
  call("DELETE /gallery/appliances/{appliance_id}/version/{version}", {
    name: "unpublishVersion",
    audit: { event: "version.unpublished", detail: ({ appliance_id, version }) => ({ appliance_id, version }) },
    scope: "publish",
    ...ofPublished,
    access: "own",
    summary: "Unpublish a version",
    answer: success,
    refuses: ["missing_version", "invalid_version"],
    act: ({ db, account }, { appliance_id: applianceId, version }) => unpublish(db, account, { applianceId, version }),
  }),
];
