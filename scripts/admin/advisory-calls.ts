import { z } from "zod";
import type { Ask } from "./ask.ts";

const Feeds = z.object({
  feeds: z.array(
    z.object({
      feed: z.string(),
      url: z.string().nullable(),
      origin: z.string().nullable(),
      readAt: z.string().nullable(),
      sources: z.number(),
      problem: z.string(),
    }),
  ),
});

/** The admin routes for feeds of security advisories. */
export const advisoryCalls = (ask: Ask) => ({
  advisoryFeeds: async () => (await ask("GET", "/advisories", Feeds)).feeds,
  importAdvisories: (feed: string, origin: string, file: Uint8Array) => {
    const path = `/advisories/${encodeURIComponent(feed)}?origin=${encodeURIComponent(origin)}`;
    return ask("PUT", path, z.object({ sources: z.number() }), file);
  },
  followAdvisories: (feed: string, url: string | null) =>
    ask("PUT", `/advisories/${encodeURIComponent(feed)}/url`, Feeds, { url }),
});
