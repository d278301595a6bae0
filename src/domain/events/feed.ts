import { z } from "zod";
import { eventsObject } from "#domain/events/events";
import type { Feed, FeedEntry } from "#lib/atom/feed";
import { counted } from "#lib/words/counted";
import type { EventName } from "#model/event-names";
import type { Account } from "#storage/accounts";
import type { Database } from "#storage/db";
import { findFirstPublished, listMoves, listPublished } from "#storage/published-news";

/** The maximum number of entries in a feed. */
const maxEntries = 50;

/** The events that appear in an account's feed. Others become outdated too soon to be worth reading later. */
const inFeed = [
  "build.finished",
  "version.published",
  "channel.moved",
  "image.outdated",
  "image.affected",
] as const satisfies readonly EventName[];

/** The parts of a stored event that an entry mentions. */
const Announced = z.object({
  id: z.int(),
  event: z.enum(inFeed),
  created_at: z.iso.datetime().transform((text) => new Date(text)),
  build: z.object({ appliance_id: z.int(), name: z.string(), version: z.string(), image_type: z.string() }).optional(),
  image: z
    .object({
      appliance_id: z.int(),
      name: z.string(),
      version: z.string(),
      image_type: z.string(),
      newer: z.int().default(0),
      security: z.int().default(0),
      fixed: z.int().default(0),
      exploited: z.int().default(0),
    })
    .optional(),
  version: z.object({ appliance_id: z.int(), name: z.string(), version: z.string() }).optional(),
  channel: z.object({ appliance_id: z.int(), name: z.string(), channel: z.string(), version: z.string() }).optional(),
});
type Announced = z.infer<typeof Announced>;

/** The latest important events of an account, as a feed. */
export async function feedOfAccount(
  env: Pick<Env, "EVENTS">,
  account: Account,
  { baseUrl, self }: { baseUrl: string; self: string },
): Promise<Feed> {
  const stored = await eventsObject(env, account).latest(inFeed, maxEntries);
  const entries = stored.flatMap(({ text }) => {
    const { data } = Announced.safeParse(JSON.parse(text));
    return data ? [entryOf(account, data, baseUrl)] : [];
  });
  return {
    id: `urn:kiln:events:${account.uid}`,
    title: `Kiln: ${account.username}`,
    author: account.username,
    self,
    since: account.createdAt,
    entries,
  };
}

function entryOf({ uid }: Account, announced: Announced, baseUrl: string): FeedEntry {
  const { build, image, version, channel } = announced;
  const appliance = (build ?? image ?? version ?? channel)?.appliance_id;
  return {
    id: `urn:kiln:events:${uid}:${announced.id}`,
    title: titleOf(announced),
    at: announced.created_at,
    link: `${baseUrl}/appliance/${appliance}/${version || channel ? "share" : "build"}`,
  };
}

function titleOf({ build, image, version, channel }: Announced): string {
  if (build) return `New image: ${build.name} ${build.version}, ${build.image_type}`;
  if (channel) return movedTitle({ ...channel, appliance: channel.name });
  if (version) return publishedTitle(version);
  if (!image) return "";
  return `${image.name} ${image.version}, ${image.image_type}, lacks ${missingIn(image)}`;
}

function missingIn({ security, newer, fixed, exploited }: NonNullable<Announced["image"]>): string {
  if (fixed > 0) return `fixes of ${fixesOf(fixed)}${exploited > 0 ? `, ${exploited} of them exploited` : ""}`;
  return security > 0 ? counted(security, "security update") : counted(newer, "newer package");
}

const fixesOf = (fixed: number): string => counted(fixed, "vulnerability", "vulnerabilities");

const publishedTitle = ({ name, version }: { name: string; version: string }) => `Published: ${name} ${version}`;
const movedTitle = ({ appliance, channel, version }: { appliance: string; channel: string; version: string }) =>
  `The channel ${channel} of ${appliance} has ${version}`;

/**
 * The versions of a published appliance and the moves of its channels, as a feed. Undefined if the appliance is not
 * published.
 */
export async function feedOfPublished(
  db: Database,
  applianceId: number,
  { baseUrl, self }: { baseUrl: string; self: string },
): Promise<Feed | undefined> {
  const [first, versions, moves] = await Promise.all([
    findFirstPublished(db, applianceId),
    listPublished(db, applianceId, maxEntries),
    listMoves(db, applianceId, maxEntries),
  ]);
  if (!first) return undefined;
  const { name, publisher, publishedAt: since } = first;
  const at = `${baseUrl}/gallery/${applianceId}`;
  const published = versions.map(({ version, publishedAt }) => ({
    id: `${at}/${version}#published`,
    title: publishedTitle({ name, version }),
    at: publishedAt,
    link: `${at}/${version}`,
  }));
  const moved = moves.map(({ id, channel, version, movedAt }) => ({
    id: `${at}#move-${id}-${movedAt.getTime()}`,
    title: movedTitle({ appliance: name, channel, version }),
    at: movedAt,
    link: `${at}/${version}`,
  }));
  const entries = [...published, ...moved].toSorted((one, other) => other.at.getTime() - one.at.getTime());
  return { id: at, title: name, author: publisher, self, since, entries: entries.slice(0, maxEntries) };
}
