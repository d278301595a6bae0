import { getPicture } from "#domain/contents/picture";
import { answerBlob } from "#http/blob";
import type { Appliance } from "#storage/appliances";
import type { PictureKind } from "#storage/pictures";
import { factory } from "../../factory.ts";
import { vesselOf } from "../../parts/picture.tsx";
import { applianceAt, applianceRoute, withAppliance } from "./with-appliance.ts";

/**
 * The pictures on an appliance's pages: the logo, and a thumbnail of the background. A new picture has a new address.
 */
export const appliancePictures = factory
  .createApp()
  .get(`${applianceRoute}/:picture{(?:logo|background)}`, ...withAppliance, async (c) => {
    const kind = c.req.param("picture") === "logo" ? "logo" : "background";
    const shown = await getPicture(c.env, c.var.appliance, kind);
    const answer = await answerBlob(c.req.raw, { ...shown, contentType: "image/png" });
    answer.headers.set("cache-control", "private, max-age=86400");
    return answer;
  });

/** The address of an appliance's logo, or of the vessel that it has instead. A new logo has a new address. */
export const pictureOf = ({ id, logoBlob }: Pick<Appliance, "id" | "logoBlob">): string =>
  logoBlob === null ? vesselOf(id) : pictureAt({ id, logoBlob, backgroundBlob: null }, "logo");

/** The address of an appliance's picture, or of the service's default. A new picture has a new address. */
export function pictureAt(
  { id, logoBlob, backgroundBlob }: Pick<Appliance, "id" | "logoBlob" | "backgroundBlob">,
  kind: PictureKind,
): string {
  const blob = kind === "logo" ? logoBlob : backgroundBlob;
  return `${applianceAt(id, kind)}?${blob?.slice(0, 8) ?? "none"}`;
}
