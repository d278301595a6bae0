import type { Context } from "hono";
import { z } from "zod";
import { galleryTestdrive } from "#documents/gallery";
import { publishedImages as publishedImagesDocument } from "#documents/gallery-images";
import { publishedSoftware } from "#documents/gallery-software";
import { getPicture } from "#domain/contents/picture";
import { getPublication } from "#domain/gallery/access";
import { publishedImages } from "#domain/gallery/images";
import { tryPublication } from "#domain/gallery/testdrive";
import { answerBlob } from "#http/blob";
import type { PictureKind } from "#storage/pictures";
import { call, file, type Call, type Caller } from "#api/call";
import { ofAppliance, ofPublished } from "#api/gallery/of-appliance";

interface OfAppliance {
  appliance_id: number;
}

/** The default is the version that was published last. */
const OfVersion = z.object({ version: z.string().optional() });

const ofVersion = {
  ...ofAppliance,
  params: OfVersion,
  about: { version: "A published version. Default: the one that was published last." },
} as const;

/** The contents of a published version, its pictures and its testdrives. */
export const galleryContents: readonly Call[] = [
  call("GET /gallery/appliances/{appliance_id}/software", {
    name: "listPublishedSoftware",
    ...ofVersion,
    summary: "The software of a published version, by repository",
    answer: publishedSoftware,
    refuses: ["access_denied", "invalid_version", "version_not_published"],
    act: ({ db, account }, { appliance_id: applianceId, version }) =>
      getPublication(db, account.id, { applianceId, version, reason: "invalid" }),
  }),
  call("GET /gallery/appliances/{appliance_id}/images", {
    name: "listPublishedImages",
    ...ofVersion,
    summary: "The images of a published version, and how to start them",
    details:
      "Each download_url is only for you and needs no credentials. It expires when the version is no longer published. The bills of " +
      "materials and the provenance are next to the image: add .spdx.json, .cdx.json or .intoto.jsonl.",
    answer: publishedImagesDocument,
    refuses: ["access_denied", "invalid_version", "version_not_published"],
    act: ({ db, account, access }, { appliance_id: applianceId, version }) =>
      publishedImages(db, { account, access }, { applianceId, version }),
  }),
  call("GET /gallery/appliances/{appliance_id}/logo", {
    name: "getPublishedLogo",
    ...picture("logo", "The logo that was published, or the service's own."),
  }),
  call("GET /gallery/appliances/{appliance_id}/background", {
    name: "getPublishedBackground",
    ...picture("background", "The background as 100x100 thumbnail, or the service's own."),
  }),
  // The original's documentation has this dot.
  call("GET /gallery/appliances/{appliance_id}/background.", {
    name: "getPublishedBackgroundByPeriod",
    ...picture("background", "The same, for clients that use this name."),
    deprecated: true,
  }),
  call("POST /gallery/appliances/{appliance_id}/testdrive", {
    name: "startPublishedTestdrive",
    rate: "testdrives",
    ...ofVersion,
    summary: "Boot a published version",
    answer: galleryTestdrive,
    refuses: ["invalid_version", "version_not_published", "build_not_found", "no_build_slots"],
    act: ({ env, db, account, requestId }, { appliance_id: applianceId, version }) =>
      tryPublication({ env, db }, account, { applianceId, version, requestId }),
  }),
];

function picture(kind: PictureKind, what: string) {
  return {
    ...ofPublished,
    summary: `The ${kind} as PNG`,
    answer: file(what, "image/png"),
    refuses: ["access_denied"],
    act: async ({ env, db, account }: Caller, { appliance_id: applianceId }: OfAppliance, c: Context) => {
      const shown = await getPicture(env, await getPublication(db, account.id, { applianceId }), kind);
      return await answerBlob(c.req.raw, { ...shown, contentType: "image/png" });
    },
  } as const;
}
