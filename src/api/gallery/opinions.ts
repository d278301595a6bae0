import { z } from "zod";
import { comments, rating as ratingDocument } from "#documents/gallery-opinions";
import { comment, getComments, getRating, rate } from "#domain/gallery/opinions";
import { call, rawText, type Call } from "#api/call";
import { ofPublished } from "#api/gallery/of-appliance";
import { id } from "#http/params";

const RatingRequest = z.object({
  rating: z
    .string({ error: "missing_rating" })
    .regex(/^\d(\.0+)?$/, "invalid_rating")
    .transform(Number),
});

const CommentRequest = z.object({ parent: id("invalid_parent").optional() });

/** Ratings of a published appliance, and comments on it. */
export const galleryOpinions: readonly Call[] = [
  call("GET /gallery/appliances/{appliance_id}/rating", {
    name: "getRating",
    ...ofPublished,
    summary: "The number of ratings, and their average",
    answer: ratingDocument,
    refuses: ["access_denied"],
    act: ({ db, account }, { appliance_id }) => getRating(db, account.id, appliance_id),
  }),
  call("POST /gallery/appliances/{appliance_id}/rating", {
    name: "rateAppliance",
    scope: "publish",
    ...ofPublished,
    summary: "Rate a published appliance; a second rating replaces the first",
    params: RatingRequest,
    answer: ratingDocument,
    refuses: ["missing_rating", "invalid_rating"],
    act: ({ db, account }, { appliance_id: applianceId, rating }) => rate(db, account, { applianceId, rating }),
  }),
  call("GET /gallery/appliances/{appliance_id}/comments", {
    name: "listComments",
    ...ofPublished,
    summary: "Comments, oldest first",
    answer: comments,
    refuses: ["access_denied"],
    act: async ({ db, account }, { appliance_id: applianceId }) => ({
      applianceId,
      comments: await getComments(db, account.id, applianceId),
    }),
  }),
  call("POST /gallery/appliances/{appliance_id}/comments", {
    name: "addComment",
    scope: "publish",
    ...ofPublished,
    summary: "Add a comment",
    params: CommentRequest,
    takes: rawText("The comment, as plain text whatever the Content-Type."),
    answer: comments,
    refuses: ["missing_parameter", "invalid_parent", "invalid_value"],
    act: async ({ env, db, account, requestId }, { appliance_id: applianceId, parent: parentId, body }) => {
      const said = { applianceId, parentId, text: await body(), requestId };
      return { applianceId, comments: await comment({ env, db }, account, said) };
    },
  }),
];
