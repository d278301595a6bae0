import { Refusal } from "#domain/refusal";
import type { CallGroup } from "#api/call";
import { factory } from "#api/factory";
import { galleryContents } from "#api/gallery/contents";
import { galleryList } from "#api/gallery/list";
import { galleryOpinions } from "#api/gallery/opinions";
import { galleryVersions } from "#api/gallery/versions";
import { nothingHere } from "#http/respond";

/** Published appliances (compatibility.md, "Gallery"). */
export const gallery: CallGroup = {
  title: "Gallery",
  about: "Published appliances: every account can read, boot and clone them.",
  operations: [galleryList, ...galleryVersions, ...galleryContents, ...galleryOpinions],
};

/** The path of a version without the version. It is not a call, so it is not in the description. */
export const versionless = factory.createApp().all("/gallery/appliances/:id/version", (c) => {
  if (c.var.version.name === "v1") return nothingHere(c);
  throw new Refusal("missing_version");
});
