import { getPicture } from "#domain/contents/picture";
import { answerBlob } from "#http/blob";
import type { Appliance } from "#storage/appliances";
import type { PictureKind } from "#storage/pictures";
import { factory } from "../../factory.ts";
import { vesselOf } from "../../parts/picture.tsx";
import { applianceAt, applianceRoute, withAppliance } from "./with-appliance.ts";

/** The pictures of an appliance, for its pages: the logo, and the background as a thumbnail. Their addresses change with them. */
export const appliancePictures = factory
  .createApp()
  .get(`${applianceRoute}/:picture{(?:logo|background)}`, ...withAppliance, async (c) => {
    const kind = c.req.param("picture") === "logo" ? "logo" : "background";
    const shown = await getPicture(c.env, c.var.appliance, kind);
    const answer = await answerBlob(c.req.raw, { ...shown, contentType: "image/png" });
    answer.headers.set("cache-control", "private, max-age=86400");
    return answer;
  });

/** The address of an appliance's own logo, or of the vessel that it has instead. It changes with the logo. */
export const pictureOf = ({ id, logoBlob }: Pick<Appliance, "id" | "logoBlob">): string =>
  logoBlob === null ? vesselOf(id) : pictureAt({ id, logoBlob, backgroundBlob: null }, "logo");

/** The address of one of its pictures, or of the service's own. It changes with the picture. */
export function pictureAt(
  { id, logoBlob, backgroundBlob }: Pick<Appliance, "id" | "logoBlob" | "backgroundBlob">,
  kind: PictureKind,
): string {
  const blob = kind === "logo" ? logoBlob : backgroundBlob;
  return `${applianceAt(id, kind)}?${blob?.slice(0, 8) ?? "none"}`;
}
