import { eq, sql } from "drizzle-orm";
import { feedsVersion, listFeeds } from "./advisories.ts";
import { tagsOf } from "./appliance-overview.ts";
import { listBaseTitles } from "./appliances.ts";
import type { Database } from "./db.ts";
import { appliances } from "./schema.ts";
import { listSharedWith, type SharedAppliance } from "./shares.ts";

const maxTags = 200;

/** The parts of the page of an account's appliances, without the appliances themselves. */
interface Around {
  /** The tags of the account's appliances, in alphabetical order. */
  tags: string[];
  /** The titles of the base systems, by name. */
  titles: Map<string, string>;
  shared: SharedAppliance[];
  /** Whether the service knows any advisories. */
  hasAdvisories: boolean;
}

export async function listAround(db: Database, accountId: number, maxShared: number): Promise<Around> {
  const [tags, titles, shared, feeds] = await db.batch([
    db
      .selectDistinct({ tag: sql<string>`tagged.value` })
      .from(appliances)
      .crossJoin(sql`${tagsOf} AS tagged`)
      .where(eq(appliances.accountId, accountId))
      .orderBy(sql`tagged.value COLLATE NOCASE`)
      .limit(maxTags),
    listBaseTitles(db),
    listSharedWith(db, accountId, maxShared),
    listFeeds(db),
  ]);
  return {
    tags: tags.map(({ tag }) => tag),
    titles: new Map(titles.map(({ name, title }) => [name, title])),
    shared,
    hasAdvisories: feedsVersion(feeds) > 0,
  };
}
