import { marked, writeXml } from "#lib/wire/xml";

export interface FeedEntry {
  /** A URI that no other entry has, and that stays the same. */
  id: string;
  title: string;
  at: Date;
  /** The page that shows more. */
  link: string;
}

export interface Feed {
  id: string;
  title: string;
  author: string;
  /** The address of the feed itself. */
  self: string;
  /** When the feed was created, which is its date if it has no entries. */
  since: Date;
  /** The newest first. */
  entries: readonly FeedEntry[];
}

/** An Atom feed (RFC 4287). */
export const atomFeed = ({ id, title, author, self, since, entries }: Feed): string =>
  writeXml(
    "feed",
    marked(
      { xmlns: "http://www.w3.org/2005/Atom" },
      {
        id,
        title,
        updated: (entries[0]?.at ?? since).toISOString(),
        author: { name: author },
        link: marked({ rel: "self", href: self }, ""),
        entry: entries.map((one) => ({
          id: one.id,
          title: one.title,
          updated: one.at.toISOString(),
          link: marked({ href: one.link }, ""),
        })),
      },
    ),
  );
