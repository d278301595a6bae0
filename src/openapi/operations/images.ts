import { Wanted as WantedFile } from "#api/appliances/image-files";
import { Wanted as WantedManifest } from "#api/appliances/manifest";
import { both, v2, type Group } from "#openapi/operation";

export const images: Group = {
  title: "Inside of images",
  about: "What a build has put into its image.",
  operations: [
    {
      name: "getManifest",
      method: "GET",
      path: "/appliances/{appliance_id}/software/manifest/{image_type}",
      versions: v2,
      summary: "The KIWI description that was built, and what goes with it",
      params: WantedManifest,
      about: { image_type: "Image type that was built.", version: "A built version; the latest when left out." },
      answer: {
        kind: "file",
        types: ["application/xml"],
        what: "A document with an XML declaration and the root manifest: studio_uuid, appliance_uuid, config, extra_config.",
      },
      unknown: ["invalid_appliance_id"],
      refusals: ["invalid_image_type", "invalid_version", "build_not_found"],
    },
    {
      name: "getImageFile",
      method: "GET",
      path: "/appliances/{appliance_id}/image_files",
      versions: both,
      summary: "A file from a built image",
      params: WantedFile,
      about: { build_id: "A build of this appliance.", path: "Path of the file in the image: /etc/hostname." },
      answer: { kind: "file", types: ["application/octet-stream"], what: "The file." },
      unknown: ["invalid_appliance_id"],
      refusals: ["missing_parameter", "invalid_build_id", "invalid_path", "raw_image_unavailable"],
    },
  ],
};
