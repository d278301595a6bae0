import type { EventName } from "#domain/event-names";
import { Refusal } from "#domain/refusal";
import { findBuildOfEvent, findTestdriveOfEvent } from "#storage/events";
import { openDatabase } from "#storage/db";
import type { Publication } from "#storage/publications";

/** What has happened to one thing, as receivers read it. */
export type EventSubject =
  | {
      build: {
        id: number;
        appliance_id: number;
        name: string;
        version: string;
        image_type: string;
        state: string;
        message: string;
      };
    }
  | { testdrive: { id: number; build_id: number; state: string; message: string } }
  | { version: { appliance_id: number; name: string; version: string } };

/** Something that happened at `at` (milliseconds since 1970). The key is made of the thing and its state: it is announced once. */
export interface Announcement {
  key: string;
  event: EventName;
  at: number;
  /** Name of the account. */
  account: string;
  subject: EventSubject;
}

/** What an object says of the moment in which its state changed. */
export interface Moment {
  event: EventName;
  at: number;
  state: string;
  message: string;
}

type EventsEnv = Pick<Env, "EVENTS" | "DB">;

/** The object that keeps an account's events, tells its listeners and calls its webhooks. */
export const eventsObject = (env: Pick<Env, "EVENTS">, accountId: number) => env.EVENTS.getByName(String(accountId));

/** Tells the account; a second time changes nothing. */
export async function announce(env: Pick<Env, "EVENTS">, accountId: number, announcement: Announcement): Promise<void> {
  await eventsObject(env, accountId).announce(announcement);
}

/** Nobody is told of a build whose row is gone. */
export async function announceBuild(env: EventsEnv, id: number, { event, at, state, message }: Moment): Promise<void> {
  const row = await findBuildOfEvent(openDatabase(env.DB), id);
  if (!row) return;
  const { accountId, account, applianceId, name, version, imageType } = row;
  const build = { id, appliance_id: applianceId, name, version, image_type: imageType, state, message };
  await announce(env, accountId, { key: `build ${id} ${event}`, event, at, account, subject: { build } });
}

export async function announceTestdrive(
  env: EventsEnv,
  id: number,
  { event, at, state, message }: Moment,
): Promise<void> {
  const row = await findTestdriveOfEvent(openDatabase(env.DB), id);
  if (!row) return;
  const { accountId, account, buildId } = row;
  const testdrive = { id, build_id: buildId, state, message };
  await announce(env, accountId, { key: `testdrive ${id} ${event}`, event, at, account, subject: { testdrive } });
}

/** A version is in the gallery; that nobody could be told does not take it out again. */
export async function announceVersion(env: Pick<Env, "EVENTS">, publication: Publication): Promise<void> {
  const { id, accountId, applianceId, name, version, username: account, publishedAt } = publication;
  const subject = { version: { appliance_id: applianceId, name, version } };
  const event = "version.published";
  const announcement = {
    key: `publication ${id} ${event}`,
    event,
    at: publishedAt.getTime(),
    account,
    subject,
  } as const;
  await announce(env, accountId, announcement).catch((error: unknown) =>
    console.error(`publication ${id} was not announced:`, error),
  );
}

/** Whoever listens has to come again with the key that counts now; should that fail, the streams end within an hour. */
export async function endStreams(env: Pick<Env, "EVENTS">, accountId: number): Promise<void> {
  await eventsObject(env, accountId)
    .hangUp()
    .catch((error: unknown) => console.error(`streams of account ${accountId}:`, error));
}

/** The account's events from now on, or from the one behind `after` on, as text/event-stream that does not end by itself. */
export async function followEvents(
  env: Pick<Env, "EVENTS">,
  accountId: number,
  after: number | undefined,
): Promise<ReadableStream<Uint8Array>> {
  const query = after === undefined ? "" : `?after=${after}`;
  const { ok, body } = await eventsObject(env, accountId).fetch(`https://events/${query}`);
  if (ok && body) return body;
  throw new Refusal("unknown_error", { message: "Too many streams of this account are open. Close one of them." });
}
