import { getPicture } from "#domain/contents/picture";
import { answerBlob } from "#http/blob";
import { factory } from "../../factory.ts";
import { applianceRoute, withAppliance } from "./with-appliance.ts";

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
