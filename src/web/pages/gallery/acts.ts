import { z } from "zod";
import { pathId } from "#http/params";
import { refuseLongText } from "#http/body-text";
import { comment, rate, removeComment } from "#domain/gallery/opinions";
import { getScreen, removeScreen } from "#domain/gallery/screen";
import { tryPublication } from "#domain/gallery/testdrive";
import { guestOrigin } from "#domain/testdrives/guest-origin";
import { getPicture } from "#domain/contents/picture";
import { answerBlob } from "#http/blob";
import { findPublication } from "#storage/publications";
import { factory } from "../../factory.ts";
import { withSession } from "../../session.ts";
import { submit } from "../../submit.ts";
import { galleryRoute, showPublished } from "./appliance.tsx";
import { galleryAt } from "./card.tsx";

const Said = z.object({
  text: z.string({ error: "Write something first." }),
  parent: z.coerce.number().int().positive().optional(),
});

const Rated = z.object({ rating: z.coerce.number({ error: "Choose one to five stars." }).int().min(1).max(5) });

/** The actions of signed-in people in the gallery. Cloning is `POST /appliances`. */
export const galleryActs = factory
  .createApp()
  .get(`${galleryRoute}/logo`, async (c) => {
    const publication = await findPublication(c.var.db, pathId(c, "id", "invalid_appliance_id"));
    if (!publication) return c.notFound();
    const shown = await getPicture(c.env, publication, "logo");
    const answer = await answerBlob(c.req.raw, { ...shown, contentType: "image/png" });
    answer.headers.set("cache-control", "public, max-age=86400");
    return answer;
  })
  .get(`${galleryRoute}/:version/screen`, async (c) => {
    const id = pathId(c, "id", "invalid_appliance_id");
    const publication = await findPublication(c.var.db, id, c.req.param("version"));
    const shown = publication && (await getScreen(c.env, publication));
    if (!shown) return c.notFound();
    const answer = await answerBlob(c.req.raw, { ...shown, contentType: "image/png" });
    // The version may be removed or unpublished, and then no cache may still show it.
    answer.headers.set("cache-control", "no-cache");
    return answer;
  })
  .use(`${galleryRoute}/:version/screen/remove`, withSession)
  .post(`${galleryRoute}/:version/screen/remove`, (c) =>
    submit(c, {
      again: showPublished,
      act: async () => {
        const [applianceId, version] = [pathId(c, "id", "invalid_appliance_id"), c.req.param("version")];
        await removeScreen(c.var.db, c.var.account, { applianceId, version });
        return { to: galleryAt(applianceId, version), result: { text: "The picture is removed." } };
      },
    }),
  )
  .use(`${galleryRoute}/:version/testdrive`, withSession)
  .use(`${galleryRoute}/rating`, withSession)
  .use(`${galleryRoute}/comments/*`, withSession)
  .post(`${galleryRoute}/:version/testdrive`, (c) =>
    submit(c, {
      rate: "testdrives",
      again: showPublished,
      act: async (_values, { requestId }) => {
        const applianceId = pathId(c, "id", "invalid_appliance_id");
        const hasNetwork = guestOrigin(c.env, c.var.baseUrl) !== undefined;
        const request = { applianceId, version: c.req.param("version"), hasNetwork, requestId };
        const { testdrive } = await tryPublication({ env: c.env, db: c.var.db }, c.var.account, request);
        return { to: `/testdrive/${testdrive.id}/${testdrive.pageToken}` };
      },
    }),
  )
  .post(`${galleryRoute}/rating`, (c) =>
    submit(c, {
      fields: Rated,
      again: showPublished,
      act: async ({ rating }) => {
        const applianceId = pathId(c, "id", "invalid_appliance_id");
        await rate(c.var.db, c.var.account, { applianceId, rating });
        return { to: galleryAt(applianceId), result: { text: "Your rating is counted." } };
      },
    }),
  )
  .post(`${galleryRoute}/comments`, (c) =>
    submit(c, {
      fields: Said,
      again: showPublished,
      act: async ({ text, parent: parentId }, { requestId }) => {
        const applianceId = pathId(c, "id", "invalid_appliance_id");
        refuseLongText(text);
        const said = { applianceId, parentId, text, requestId };
        const all = await comment({ env: c.env, db: c.var.db }, c.var.account, said);
        const own = all.findLast(({ accountId }) => accountId === c.var.account.id);
        return { to: `${galleryAt(applianceId)}#comment-${own?.id}`, result: { text: "Your comment was added." } };
      },
    }),
  )
  .post(`${galleryRoute}/comments/:comment{\\d{1,15}}/remove`, (c) =>
    submit(c, {
      again: showPublished,
      act: async () => {
        const applianceId = pathId(c, "id", "invalid_appliance_id");
        await removeComment(c.var.db, c.var.account, { applianceId, commentId: Number(c.req.param("comment")) });
        return { to: `${galleryAt(applianceId)}#comments`, result: { text: "The comment is removed." } };
      },
    }),
  );
