import { factory } from "#api/factory";
import { galleryContents } from "#api/gallery/contents";
import { galleryList } from "#api/gallery/list";
import { galleryOpinions } from "#api/gallery/opinions";
import { galleryVersions } from "#api/gallery/versions";
import { v2Only } from "#api/v2-only";

/** Published appliances (wire.md §2.16). */
export const gallery = factory
  .createApp()
  .use("/gallery/*", v2Only)
  .route("/", galleryList)
  .route("/", galleryVersions)
  .route("/", galleryContents)
  .route("/", galleryOpinions);
