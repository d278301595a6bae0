import { OfVersion } from "#api/gallery/contents";
import { GalleryRequest } from "#api/gallery/list";
import { CommentRequest, RatingRequest } from "#api/gallery/opinions";
import { v2, xml, type Group, type Operation } from "#openapi/operation";
import { galleryVersions } from "#openapi/operations/gallery-versions";
import { comments, galleryPage, galleryTestdrive, publishedSoftware, rating } from "#openapi/shapes/gallery";

const ofAppliance = { versions: v2, unknown: ["invalid_appliance_id"] } satisfies Partial<Operation>;
/** What is shown is the version that was published last, so that there has to be one. */
const ofPublished = {
  versions: v2,
  unknown: ["invalid_appliance_id", "version_not_published"],
} satisfies Partial<Operation>;
const version = { version: "A published version; the one that was published last when left out." };

const picture = (kind: "logo" | "background", what: string): Operation => ({
  name: kind === "logo" ? "getPublishedLogo" : "getPublishedBackground",
  method: "GET",
  path: `/gallery/appliances/{appliance_id}/${kind}`,
  ...ofPublished,
  summary: `The ${kind} as PNG`,
  answer: { kind: "file", types: ["image/png"], what },
  refusals: ["access_denied"],
});

const opinions: readonly Operation[] = [
  {
    name: "getRating",
    method: "GET",
    path: "/gallery/appliances/{appliance_id}/rating",
    ...ofPublished,
    summary: "How many have rated it, and the average",
    answer: xml(rating),
    refusals: ["access_denied"],
  },
  {
    name: "rateAppliance",
    method: "POST",
    path: "/gallery/appliances/{appliance_id}/rating",
    ...ofPublished,
    summary: "Rate it; your second rating replaces your first",
    params: RatingRequest,
    answer: xml(rating),
    refusals: ["missing_rating", "invalid_rating"],
  },
  {
    name: "listComments",
    method: "GET",
    path: "/gallery/appliances/{appliance_id}/comments",
    ...ofPublished,
    summary: "What people say",
    answer: xml(comments),
    refusals: ["access_denied"],
  },
  {
    name: "addComment",
    method: "POST",
    path: "/gallery/appliances/{appliance_id}/comments",
    ...ofPublished,
    summary: "Say something",
    params: CommentRequest,
    body: { kind: "text", what: "The comment, as plain text whatever the Content-Type." },
    answer: xml(comments),
    refusals: ["missing_parameter", "invalid_parent", "invalid_value"],
  },
];

export const gallery: Group = {
  title: "Gallery",
  about: "Appliances that their owners have published, for everybody to read, try and clone. This came with version 2.",
  operations: [
    {
      name: "listGallery",
      method: "GET",
      path: "/gallery/appliances",
      versions: v2,
      summary: "Published appliances: the latest, the popular, somebody's, or those that a search finds",
      details: "One of latest, popular, username and search has to be there; query=latest does the same as latest.",
      params: GalleryRequest,
      about: {
        query: "latest, popular, username or search, in place of the bare word.",
        username: "Whose appliances.",
      },
      answer: xml(galleryPage),
      refusals: ["unknown_query", "invalid_username", "invalid_value"],
    },
    ...galleryVersions,
    {
      name: "listPublishedSoftware",
      method: "GET",
      path: "/gallery/appliances/{appliance_id}/software",
      ...ofAppliance,
      summary: "What is in it, and where that came from",
      params: OfVersion,
      about: version,
      answer: xml(publishedSoftware),
      refusals: ["access_denied", "invalid_version", "version_not_published"],
    },
    picture("logo", "The logo that was published, or the service's own."),
    picture("background", "The background in 100x100, or the service's own."),
    {
      ...picture("background", "The same: clients know it under this name too."),
      name: "getPublishedBackgroundByPeriod",
      path: "/gallery/appliances/{appliance_id}/background.",
      deprecated: true,
    },
    {
      name: "startPublishedTestdrive",
      method: "POST",
      path: "/gallery/appliances/{appliance_id}/testdrive",
      ...ofAppliance,
      summary: "Boot it",
      params: OfVersion,
      about: version,
      answer: xml(galleryTestdrive),
      refusals: ["invalid_version", "version_not_published", "build_not_found", "no_build_slots"],
    },
    ...opinions,
  ],
};
