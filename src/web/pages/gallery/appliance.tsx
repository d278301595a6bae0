import type { Context } from "hono";
import { answerFeed } from "#http/feed";
import { pathId } from "#http/params";
import { publishedVersions } from "#domain/gallery/publish";
import { mostAffected } from "#domain/advisories/affected";
import { openChannelsOf } from "#domain/channels/channels";
import { proofOf } from "#domain/checks/proof";
import { feedOfPublished } from "#domain/events/feed";
import { imagesOf } from "#domain/gallery/images";
import { findBaseSystem } from "#storage/appliances";
import { listAdvisoryCounts } from "#storage/image-advisories";
import { findUses } from "#storage/gallery-listings";
import { findOwnRating, ratingOf, listComments } from "#storage/gallery-opinions";
import { findPublication, type Publication } from "#storage/publications";
import { notFoundPage } from "../../error-page.tsx";
import { factory, type WebEnv } from "../../factory.ts";
import { page } from "../../page.tsx";
import { personOf } from "../../session.ts";
import { galleryAt } from "./card.tsx";
import { PublishedView } from "./published-view.tsx";
import type { Published } from "./published.ts";

export const galleryRoute = "/gallery/:id{\\d{1,15}}";

/** The page of a published appliance. Without a version, it shows the one that was published last. */
export const publishedPage = factory
  .createApp()
  .get(galleryRoute, (c) => showPublished(c))
  .get(`${galleryRoute}/feed`, async (c) => {
    const { db, baseUrl } = c.var;
    const applianceId = pathId(c, "id", "invalid_appliance_id");
    const self = `${baseUrl}${galleryAt(applianceId)}/feed`;
    const feed = await feedOfPublished(db, applianceId, { baseUrl, self });
    return feed ? answerFeed(c, feed) : notFoundPage(c);
  })
  .get(`${galleryRoute}/:version{\\d+\\.\\d+\\.\\d+}`, (c) => showPublished(c));

export async function showPublished(c: Context<WebEnv>): Promise<Response> {
  const applianceId = pathId(c, "id", "invalid_appliance_id");
  const publication = await findPublication(c.var.db, applianceId, c.req.param("version") ?? c.req.query("version"));
  if (!publication) return await notFoundPage(c);
  const published = await publishedOf(c, publication);
  const { name, version } = publication;
  return await page(c, <PublishedView published={published} />, { title: `${name} ${version}`, section: "gallery" });
}

async function publishedOf(c: Context<WebEnv>, publication: Publication): Promise<Published> {
  const { db } = c.var;
  const { applianceId } = publication;
  const person = await personOf(c);
  const [versions, images, channels, base, rating, uses, comments, ownRating] = await Promise.all([
    publishedVersions(db, 0, applianceId),
    imagesOf(db, publication, person && { account: person.account, access: { by: "key" } }),
    openChannelsOf(db, applianceId),
    findBaseSystem(db, publication.baseSystem),
    ratingOf(db, applianceId),
    findUses(db, applianceId),
    listComments(db, applianceId),
    person && findOwnRating(db, { applianceId, accountId: person.account.id }),
  ]);
  const [proof, counts] = await Promise.all([
    proofOf(db, images),
    listAdvisoryCounts(
      db,
      images.map(({ id }) => id),
    ),
  ]);
  return {
    publication,
    versions: versions.toReversed(),
    images,
    channels,
    proof,
    advisories: mostAffected(counts),
    base: base?.facts.title ?? publication.baseSystem,
    baseUrl: c.var.baseUrl,
    rating,
    uses,
    comments,
    person,
    ownRating,
    wanted: c.req.query("then"),
  };
}
