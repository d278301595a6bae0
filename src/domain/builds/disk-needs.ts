import { needsVolumes } from "#domain/configuration/volumes";
import type { Configuration } from "#lib/configuration/stored";
import type { ImageType } from "#lib/contract/index";
import { fileSystemOf } from "#lib/kiwi/file-system";
import type { Build } from "#storage/builds";

/** The facts of a build's disk that decide which agents can make it. */
export type DiskNeeds = Pick<Build, "needsLvm" | "fileSystem">;

export const diskNeedsOf = (configuration: Configuration, imageType: ImageType): DiskNeeds => ({
  needsLvm: needsVolumes(configuration, imageType),
  fileSystem: fileSystemOf({ imageType, settings: configuration.settings }),
});
