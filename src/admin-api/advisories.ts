import { z } from "zod";
import { followFeed, importAdvisories } from "#domain/advisories/import";
import { Refusal } from "#domain/refusal";
import { advisoryFeeds } from "#model/advisory";
import { listFeeds } from "#storage/advisories";
import { factory } from "#admin-api/factory";

const Feed = z.enum(advisoryFeeds);
const Followed = z.object({ url: z.url({ protocol: /^https?$/ }).nullable() });

/** Feeds of security advisories: a file as the body replaces what is known from a feed; a URL is read once a day. */
export const advisories = factory
  .createApp()
  .get("/", async (c) => c.json({ feeds: await listFeeds(c.var.db) }))
  .put("/:feed/url", async (c) => {
    const { url } = Followed.parse(await c.req.json());
    await followFeed({ env: c.env, db: c.var.db }, Feed.parse(c.req.param("feed")), url);
    return c.json({ feeds: await listFeeds(c.var.db) });
  })
  .put("/:feed", async (c) => {
    const feed = Feed.parse(c.req.param("feed"));
    const origin = (c.req.query("origin") ?? "a file").slice(0, 500);
    const { body } = c.req.raw;
    if (!body) throw new Refusal("invalid_value", { message: "The file must be the body." });
    const sources = await importAdvisories(c.var.db, { feed, origin, body }, Date.now());
    return c.json({ feed, sources });
  });
