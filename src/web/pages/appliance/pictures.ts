import { getPicture } from "#domain/contents/picture";
import { answerBlob } from "#http/blob";
import { factory } from "../../factory.ts";
import { applianceRoute, withAppliance } from "./with-appliance.ts";

/** The logo of an appliance, for its pages. Its address changes with it. */
export const logo = factory.createApp().get(`${applianceRoute}/logo`, ...withAppliance, async (c) => {
  const shown = await getPicture(c.env, c.var.appliance, "logo");
  const answer = await answerBlob(c.req.raw, { ...shown, contentType: "image/png" });
  answer.headers.set("cache-control", "private, max-age=86400");
  return answer;
});
