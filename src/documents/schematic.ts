import type { Schematic } from "#domain/schematics/schematic";
import { arrayOf, digest, fields, id, inside, oneOf, text, url } from "#lib/wire/field";
import { imageTypes } from "#lib/contract/index";
import { document, type Viewer } from "#lib/wire/shape";

const days = fields({ from: text("from", "2026-11-20"), to: text("to", "2026-11-26") });

/** The address that builds the image with the present contents of the repositories. */
export const contentAddress = ({ sha256, appliance }: Schematic): string =>
  `/image/${sha256}/current/${appliance.imageType}`;

/** The element `schematic` is a Kiln extension. */
export const schematic = document(
  "Schematic",
  "schematic",
  fields({
    id: digest("sha256", "5f0c6a8e2b7d4193f6c8a0e2b4d69187c5f3e1a09b7d5c3f1e8a6b4d2c0f9e7b"),
    appliance_id: id(({ appliance }: Schematic) => appliance.id, 1004),
    image_type: oneOf(({ appliance }: Schematic) => appliance.imageType, imageTypes, "oem"),
    url: url(
      (schematic: Schematic, { baseUrl }: Viewer) => baseUrl + contentAddress(schematic),
      "https://kiln.example.org/image/5f0c6a8e2b7d4193f6c8a0e2b4d69187c5f3e1a09b7d5c3f1e8a6b4d2c0f9e7b/current/oem",
    ),
    as_of: inside("days", arrayOf("days", days)),
  }),
);
