import { and, asc, eq, sql, type SQL } from "drizzle-orm";
import type { PublishedFormat } from "#model/published";
import { entryOfAct } from "./audit-log.ts";
import type { Database } from "./db.ts";
import { insertFrom } from "./inserts.ts";
import { accounts, appliances, channels, channelVersions, eventOutbox, publications } from "./schema.ts";

/** A channel, and the version at its head; null if it has none. */
export interface Channel {
  name: string;
  /** The name of the account that owns the appliance. */
  username: string;
  isAutomatic: boolean;
  version: string | null;
  movedAt: Date | null;
  formats: PublishedFormat[] | null;
  /** The entry at its head. It changes with each move. */
  headId: number | null;
}

/** A channel that an automatic rule moves. It stays where it is if its owner or another version has moved it since. */
export type AutomaticMove = Pick<Channel, "name" | "headId">;

interface ChannelOf {
  applianceId: number;
  name: string;
}

const headId = sql`(SELECT max(id) FROM channel_versions
  WHERE channel_versions.appliance_id = channels.appliance_id AND channel_versions.channel = channels.name)`;

/** The channels of an appliance, by name. */
export const listChannels = (db: Database, applianceId: number) =>
  db
    .select({
      name: channels.name,
      username: accounts.username,
      isAutomatic: channels.isAutomatic,
      version: publications.version,
      movedAt: channelVersions.movedAt,
      formats: publications.formats,
      headId: channelVersions.id,
    })
    .from(channels)
    .innerJoin(appliances, eq(appliances.id, channels.applianceId))
    .innerJoin(accounts, eq(accounts.id, appliances.accountId))
    .leftJoin(channelVersions, sql`${channelVersions.id} = ${headId}`)
    .leftJoin(publications, eq(publications.id, channelVersions.publicationId))
    .where(eq(channels.applianceId, applianceId))
    .orderBy(asc(channels.name));

type Change = ChannelOf & {
  isAutomatic: boolean;
  /** The published version that becomes the channel's head. Undefined to keep the head. */
  version: string | undefined;
  /** How many channels an appliance may have. */
  most: number;
};

/**
 * Creates or changes a channel. If the channel has had the version before, that becomes its head again, and the later
 * ones are dropped. False if the appliance has too many channels or is gone, or if the version is not published; then
 * nothing was written.
 */
export async function saveChannel(
  db: Database,
  { applianceId, name, isAutomatic, version, most }: Change,
): Promise<boolean> {
  const others = sql`(SELECT count(*) FROM channels WHERE appliance_id = ${applianceId} AND name <> ${name})`;
  const wanted = sql`appliance_id = ${applianceId} AND version = ${version ?? null}`;
  const publication = sql`(SELECT id FROM publications WHERE ${wanted})`;
  const isPossible = version === undefined ? sql`true` : sql`EXISTS ${publication}`;
  const now = new Date();
  const ofChannel = sql`appliance_id = ${applianceId} AND channel = ${name}`;
  const [saved] = await db.batch([
    insertFrom(
      db,
      channels,
      { applianceId, name, isAutomatic, createdAt: new Date() },
      sql`FROM appliances WHERE id = ${applianceId} AND ${others} < ${most} AND ${isPossible}`,
    )
      .onConflictDoUpdate({ target: [channels.applianceId, channels.name], set: { isAutomatic } })
      .returning({ name: channels.name }),
    ...entryOfAct(db),
    db
      .update(channelVersions)
      .set({ movedAt: now })
      .where(
        sql`publication_id = ${publication} AND channel = ${name}
          AND id < (SELECT max(id) FROM channel_versions WHERE ${ofChannel})`,
      ),
    db
      .delete(channelVersions)
      .where(
        sql`${ofChannel} AND id > (SELECT id FROM channel_versions WHERE publication_id = ${publication} AND channel = ${name})`,
      ),
    ...movedTo(db, { moves: [{ name }], publication: wanted, now }),
  ]);
  return saved.length > 0;
}

/** Moves automatic channels to a published version. */
export async function moveChannels(
  db: Database,
  { applianceId, moves, version }: { applianceId: number; moves: readonly AutomaticMove[]; version: string },
): Promise<void> {
  const publication = sql`appliance_id = ${applianceId} AND version = ${version}`;
  await db.batch(movedTo(db, { moves, publication, now: new Date() }));
}

interface Move {
  /** Without a head, the owner moves the channel, whatever it contains. */
  moves: readonly (AutomaticMove | Pick<Channel, "name">)[];
  /** The condition that finds the publication. */
  publication: SQL;
  now: Date;
}

/**
 * Puts the publication at the head of these channels of its appliance, and announces each channel that has moved:
 * statements for a batch.
 */
export const movedTo = (db: Database, { moves, publication, now }: Move) =>
  [
    insertFrom(
      db,
      channelVersions,
      {
        applianceId: sql`channels.appliance_id`,
        channel: sql`channels.name`,
        publicationId: sql`published.id`,
        movedAt: now,
      },
      sql`FROM (SELECT id, appliance_id FROM publications WHERE ${publication}) AS published
          JOIN channels ON channels.appliance_id = published.appliance_id
          JOIN json_each(${JSON.stringify(moves)}) AS move ON move.value ->> 'name' = channels.name
          WHERE json_type(move.value, '$.headId') IS NULL
            OR (channels.is_automatic AND ${headId} IS move.value ->> 'headId')`,
    ).onConflictDoNothing(),
    insertFrom(
      db,
      eventOutbox,
      { accountId: sql`published.account_id`, announcement: announcementOfMove, triedAt: now },
      sql`FROM (SELECT id, appliance_id, account_id, version FROM publications WHERE ${publication}) AS published
          CROSS JOIN channel_versions AS moved CROSS JOIN appliances CROSS JOIN accounts
          WHERE moved.publication_id = published.id AND moved.moved_at = ${now.getTime()}
            AND moved.channel IN (SELECT value ->> 'name' FROM json_each(${JSON.stringify(moves)}))
            AND appliances.id = published.appliance_id AND accounts.id = published.account_id`,
    ),
  ] as const;

/** An `Announcement` as JSON. */
const announcementOfMove = sql`json_object(
  'key', 'channel ' || moved.id || ' channel.moved ' || moved.moved_at,
  'event', 'channel.moved', 'at', moved.moved_at, 'account', accounts.username,
  'subject', json_object('channel', json_object('appliance_id', published.appliance_id, 'name', appliances.name,
    'channel', moved.channel, 'version', published.version)))`;

/** Deletes a channel. False if there is none of that name. */
export async function deleteChannel(db: Database, { applianceId, name }: ChannelOf): Promise<boolean> {
  const [gone] = await db.batch([
    db
      .delete(channels)
      .where(and(eq(channels.applianceId, applianceId), eq(channels.name, name)))
      .returning({ name: channels.name }),
    ...entryOfAct(db),
    db
      .delete(channelVersions)
      .where(and(eq(channelVersions.applianceId, applianceId), eq(channelVersions.channel, name))),
  ]);
  return gone.length > 0;
}

/** A channel of an appliance that this account publishes, as an address names it. */
export interface ChannelAddress {
  username: string;
  applianceId: number;
}

const ofPublisher = ({ username, applianceId }: ChannelAddress) => sql`${publications.applianceId} = ${applianceId}
  AND EXISTS (SELECT 1 FROM accounts WHERE accounts.id = publications.account_id
    AND accounts.username = ${username} AND accounts.removed_at IS NULL)`;

/** A version that someone without an account may download, and its images. */
export type OpenVersion = Pick<typeof publications.$inferSelect, "version" | "formats">;

/** The version at the head of a channel, if its appliance is published by the account of that name. */
export async function findHead(
  db: Database,
  address: ChannelAddress,
  channel: string,
): Promise<OpenVersion | undefined> {
  const [found] = await db
    .select({ version: publications.version, formats: publications.formats })
    .from(channelVersions)
    .innerJoin(publications, eq(publications.id, channelVersions.publicationId))
    .where(
      and(
        eq(channelVersions.applianceId, address.applianceId),
        eq(channelVersions.channel, channel),
        ofPublisher(address),
      ),
    )
    .orderBy(sql`${channelVersions.id} DESC`)
    .limit(1);
  return found;
}

/** The published version that is at the head of a channel, or was there earlier. */
export async function findVersionInChannel(
  db: Database,
  address: ChannelAddress,
  version: string,
): Promise<OpenVersion | undefined> {
  const [found] = await db
    .select({ version: publications.version, formats: publications.formats })
    .from(publications)
    .where(
      and(
        ofPublisher(address),
        eq(publications.version, version),
        sql`EXISTS (SELECT 1 FROM channel_versions WHERE channel_versions.publication_id = publications.id)`,
      ),
    );
  return found;
}

/** Whether a published appliance of this account has the channel, even if no version is at its head. */
export async function isKnownChannel(db: Database, address: ChannelAddress, channel: string): Promise<boolean> {
  const [found] = await db
    .select({ name: channels.name })
    .from(channels)
    .where(
      and(
        eq(channels.applianceId, address.applianceId),
        eq(channels.name, channel),
        sql`EXISTS (SELECT 1 FROM publications WHERE ${ofPublisher(address)})`,
      ),
    );
  return found !== undefined;
}
