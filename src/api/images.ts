import { Buffer } from "node:buffer";
import { z } from "zod";
import { manifestXml } from "#documents/manifest";
import { getAppliance } from "#domain/appliances/appliance";
import { getManifest } from "#domain/builds/manifest";
import { getImageFile } from "#domain/images/files";
import { answerBlob } from "#http/blob";
import { cutOut } from "#http/cut";
import { findImages } from "#api/images-with";
import { v2 } from "#api/operation";
import { call, file, type CallGroup } from "#api/call";
import { ofReadable } from "#api/of-appliance";
import { id } from "#http/params";

const ManifestRequest = z.object({ version: z.string().optional() });

const FileRequest = z.object({
  build_id: id("invalid_build_id"),
  // No file has a path that is longer than PATH_MAX or contains a NUL.
  path: z
    .string({ error: "missing_parameter" })
    .max(4096, "invalid_path")
    .regex(/^[^\0]*$/, "invalid_path"),
});

export const images: CallGroup = {
  title: "Inside images",
  about: "What a build has put into its image.",
  operations: [
    call("GET /appliances/{appliance_id}/software/manifest/{image_type}", {
      name: "getManifest",
      ...ofReadable,
      versions: v2,
      summary: "The manifest of a build: its KIWI description, and what KIWI cannot describe",
      details: "Only the owner of the appliance sees the password hashes of its users.",
      params: ManifestRequest,
      about: { image_type: "Image type that was built.", version: "A built version. Default: the latest." },
      answer: file(
        "A document with an XML declaration and the root manifest: studio_uuid, appliance_uuid, config, extra_config.",
        "application/xml",
      ),
      refuses: ["invalid_image_type", "invalid_version", "build_not_found"],
      act: async (caller, { found, image_type: imageType, version }, c) => {
        const {
          account,
          version: { imageTypes: allowedTypes },
          baseUrl,
        } = caller;
        const wanted = { imageType, version, allowedTypes, readerId: account.id };
        const manifest = await getManifest(caller, found, wanted);
        const body = manifestXml(manifest, baseUrl);
        return c.body(body, 200, {
          "Content-Type": "application/xml; charset=utf-8",
          "Content-Length": String(Buffer.byteLength(body)),
        });
      },
    }),
    findImages,
    call("GET /appliances/{appliance_id}/image_files", {
      name: "getImageFile",
      rate: "image_files",
      summary: "A file of a built image",
      details:
        "Supports ranges and ETags. Links are followed inside the image. Only the owner of the appliance can read files with " +
        "password hashes or private keys.",
      access: ofReadable.access,
      ids: ofReadable.ids,
      params: FileRequest,
      about: { build_id: "A build of this appliance.", path: "Path of the file in the image, such as /etc/hostname." },
      answer: file("The file.", "application/octet-stream"),
      refuses: ["missing_parameter", "invalid_build_id", "invalid_path", "raw_image_unavailable", "access_denied"],
      act: async ({ env, db, account: { id: readerId } }, { appliance_id, build_id: buildId, path }, c) => {
        const appliance = await getAppliance(db, readerId, appliance_id);
        const { size, tag, open } = await getImageFile({ env, db }, appliance, { buildId, path, readerId });
        return await answerBlob(c.req.raw, {
          size,
          etag: `"${tag}"`,
          contentType: "application/octet-stream",
          fileName: path.slice(path.lastIndexOf("/") + 1),
          read: async (range) => ({ body: cutOut(await open(), range) }),
        });
      },
    }),
  ],
};
