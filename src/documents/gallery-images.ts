import { imageTypes } from "#lib/contract/index";
import { downloadUrl } from "#documents/build";
import { use } from "#documents/image-use";
import type { Build } from "#storage/builds";
import { countedOf, digest, fields, group, id, inside, int, oneOf, text, through, version } from "#lib/wire/field";
import { document } from "#lib/wire/shape";

/** A Kiln extension. Each reader has a personal URL, which stops working when the version is no longer published. */
const image = fields({
  build_id: id("id", 31),
  image_type: oneOf("imageType", imageTypes),
  file_name: text(({ fileName }: Build) => fileName ?? "", "Reading_room.x86_64-0.0.2.oem.tar.gz"),
  bytes: int(({ fileSize }: Build) => fileSize ?? 0, 124_017_212),
  sha256: digest(
    ({ sha256 }: Build) => sha256 ?? "",
    "9b2f4c1d7e8a60351f2c4b6d8e0a7c9351b2d4f6081a3c5e7f9b1d2c4e6a8b0d",
  ),
  download_url: downloadUrl,
  use,
});

export const publishedImages = document(
  "PublishedImages",
  "gallery",
  fields({
    appliance: group(
      fields({
        ...through("publication", { id: id("applianceId", 1004), version: version("version", "0.0.2") }),
        images: inside("images", countedOf("image", image)),
      }),
    ),
  }),
);
