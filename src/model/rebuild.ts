import type { ImageType } from "#lib/contract/index";

/** A build of a rebuild, before it starts. */
export interface PlannedBuild {
  imageType: ImageType;
  uid: string;
}
