import { imageTypes } from "#lib/contract/index";
import { use } from "#documents/image-use";
import type { ShownChannel } from "#domain/channels/channels";
import type { Build } from "#storage/builds";
import {
  arrayOf,
  bool,
  digest,
  fields,
  id,
  inside,
  int,
  oneOf,
  text,
  through,
  time,
  url,
  version,
} from "#lib/wire/field";
import { document, type Viewer } from "#lib/wire/shape";

/** The address that always leads to the newest image of a channel. */
export const lastingAddress = (
  { username, applianceId, name }: Pick<ShownChannel, "username" | "applianceId" | "name">,
  imageType: string,
): string => `/image/${encodeURIComponent(username)}/${applianceId}/${name}/${imageType}`;

interface Shown {
  channel: ShownChannel;
  image: Build;
}

const image = fields({
  ...through("image", { build_id: id("id", 31), image_type: oneOf("imageType", imageTypes, "oem") }),
  url: url(
    ({ channel, image }: Shown, { baseUrl }: Viewer) => baseUrl + lastingAddress(channel, image.imageType),
    "https://kiln.example.org/image/tux/1004/stable/oem",
  ),
  file_name: text(({ image }: Shown) => image.fileName ?? "", "Reading_room.x86_64-0.0.2.oem.tar.gz"),
  bytes: int(({ image }: Shown) => image.fileSize ?? 0, 124_017_212),
  sha256: digest(
    ({ image }: Shown) => image.sha256 ?? "",
    "9b2f4c1d7e8a60351f2c4b6d8e0a7c9351b2d4f6081a3c5e7f9b1d2c4e6a8b0d",
  ),
  ...through("image", { use }),
});

/** A Kiln extension. */
export const channels = document(
  "Channels",
  "channels",
  arrayOf(
    "channel",
    fields({
      name: text("name", "stable"),
      automatic: bool("isAutomatic", true),
      version: version("version", "0.0.2").optional(),
      moved_at: time("movedAt", "2026-03-04T16:25:01Z").optional(),
      images: inside(
        (channel: ShownChannel): Shown[] => channel.images.map((image) => ({ channel, image })),
        arrayOf("image", image),
      ),
    }),
  ),
);
