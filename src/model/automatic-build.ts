import type { ImageType } from "#lib/contract/index";

/** A build of an automatic build, before it starts. */
export interface PlannedBuild {
  imageType: ImageType;
  uid: string;
}
