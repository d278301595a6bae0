import type { Context } from "hono";
import { z } from "zod";
import { comment, getComments, getRating, rate } from "#domain/gallery/opinions";
import { factory, type ApiEnv } from "#api/factory";
import { readRawText } from "#api/gallery/raw-text";
import { id, parseParams, pathId, readParams, readQuery } from "#api/params";
import { xml } from "#api/respond";
import { commentsFields, ratingFields } from "#api/views/gallery-opinions";

export const RatingRequest = z.object({
  rating: z
    .string({ error: "missing_rating" })
    .regex(/^[0-5]$/, "invalid_rating")
    .transform(Number),
});
export const CommentRequest = z.object({ parent: id("invalid_parent").optional() });

/** What people say of a published appliance. */
export const galleryOpinions = factory
  .createApp()
  .get("/gallery/appliances/:id/rating", async (c) => {
    const rating = await getRating(c.var.db, c.var.account.id, applianceId(c));
    return xml(c, "gallery", { appliance: ratingFields(rating) });
  })
  .post("/gallery/appliances/:id/rating", async (c) => {
    const request = { applianceId: applianceId(c), ...parseParams(RatingRequest, await readParams(c)) };
    return xml(c, "gallery", { appliance: ratingFields(await rate(c.var.db, c.var.account, request)) });
  })
  .get("/gallery/appliances/:id/comments", async (c) => {
    const id = applianceId(c);
    return xml(c, "gallery", { appliance: commentsFields(id, await getComments(c.var.db, c.var.account.id, id)) });
  })
  .post("/gallery/appliances/:id/comments", async (c) => {
    const id = applianceId(c);
    // The body is the comment, and no form.
    const { parent: parentId } = parseParams(CommentRequest, readQuery(c));
    const text = await readRawText(c.req.raw);

    const all = await comment({ env: c.env, db: c.var.db }, c.var.account, {
      applianceId: id,
      text,
      parentId,
      requestId: c.var.requestId,
    });

    return xml(c, "gallery", { appliance: commentsFields(id, all) });
  });

const applianceId = (c: Context<ApiEnv>) => pathId(c, "id", "invalid_appliance_id");
