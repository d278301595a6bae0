import type { Access } from "#domain/accounts/access";
import { streamOf } from "#domain/events/stream";
import type { Services } from "#domain/services";
import { Refusal } from "#domain/refusal";
import { logFailure } from "#log/log";
import type { Announcement } from "#model/announcement";
import type { EventName } from "#model/event-names";
import type { Account } from "#storage/accounts";
import { type Databases, openDatabase } from "#storage/db";
import {
  findBuildOfEvent,
  findTestdriveOfEvent,
  forgetOutboxEvent,
  listOutbox,
  noteOutboxTry,
  type OutboxEvent,
} from "#storage/events";
import type { NewPublication } from "#storage/publications";

/** A change of an object's state. */
export interface Moment {
  event: EventName;
  at: number;
  state: string;
  message: string;
}

type EventsEnv = Pick<Env, "EVENTS"> & Databases;

/** The object that stores an account's events, sends them to its listeners and calls its webhooks. */
export const eventsObject = (env: Pick<Env, "EVENTS">, { uid }: EventsOwner) => env.EVENTS.getByName(uid);

/** The account whose events they are. */
export type EventsOwner = Pick<Account, "uid">;

/** Announces an event. Repeating it changes nothing. */
async function announce(env: Pick<Env, "EVENTS">, owner: EventsOwner, announcement: Announcement): Promise<void> {
  await eventsObject(env, owner).announce(announcement);
}

/** Announces an event of a build, unless its row no longer exists. */
export async function announceBuild(env: EventsEnv, uid: string, { event, at, state, message }: Moment): Promise<void> {
  const row = await findBuildOfEvent(openDatabase(env), uid);
  if (!row) return;
  const { accountUid, account, id, applianceId, name, version, imageType } = row;
  const build = { id, appliance_id: applianceId, name, version, image_type: imageType, state, message };
  const key = `build ${uid} ${event}`;
  await announce(env, { uid: accountUid }, { key, event, at, account, subject: { build } });
}

export async function announceTestdrive(
  env: EventsEnv,
  uid: string,
  { event, at, state, message }: Moment,
): Promise<void> {
  const row = await findTestdriveOfEvent(openDatabase(env), uid);
  if (!row) return;
  const { accountUid, account, id, buildId } = row;
  const testdrive = { id, build_id: buildId, state, message };
  const key = `testdrive ${uid} ${event}`;
  await announce(env, { uid: accountUid }, { key, event, at, account, subject: { testdrive } });
}

/** The announcement that a version is in the gallery. */
export function versionPublished({
  uuid,
  applianceId,
  name,
  version,
  username: account,
  publishedAt,
}: Omit<NewPublication, "releaseNotes">): Announcement {
  const event = "version.published";
  const subject = { version: { appliance_id: applianceId, name, version } };
  return { key: `publication ${uuid} ${event}`, event, at: publishedAt.getTime(), account, subject };
}

/** Announces an event of the outbox. If that fails, the event stays in the outbox, and the sweep tries again. */
export async function sendOutboxEvent(
  { env, db }: Services<Pick<Env, "EVENTS">>,
  owner: EventsOwner,
  { id, announcement }: OutboxEvent,
): Promise<void> {
  try {
    await announce(env, owner, announcement);
    await forgetOutboxEvent(db, id);
  } catch (error) {
    logFailure("could not announce an event", error, { key: announcement.key });
    await noteOutboxTry(db, id, new Date());
  }
}

/** How many events one run of the sweep announces. */
const outboxAtOnce = 100;

/** A chore of the sweep: announces events that could not be announced by the request that wrote them. */
export async function sendOutbox({ env, db }: Services<Pick<Env, "EVENTS">>): Promise<void> {
  for (const { event, accountUid: uid } of await listOutbox(db, outboxAtOnce)) {
    await sendOutboxEvent({ env, db }, { uid }, event);
  }
}

/** Ends all streams, so that clients connect again with the new key. If that fails, the streams end within an hour. */
export async function endStreams(env: Pick<Env, "EVENTS">, account: Account): Promise<void> {
  await eventsObject(env, account)
    .hangUp()
    .catch((error: unknown) =>
      logFailure("could not end the event streams of an account", error, { account: account.id }),
    );
}

interface Following {
  /** The last event that the client received. */
  after: number | undefined;
  access: Access;
}

/**
 * The account's events from now on, or those after the event `after`, as a text/event-stream that ends when its token
 * expires.
 */
export async function followEvents(
  env: Pick<Env, "EVENTS">,
  account: EventsOwner,
  { after, access }: Following,
): Promise<ReadableStream<Uint8Array>> {
  const until = access.by === "token" ? access.expiresAt?.getTime() : undefined;
  const query = new URLSearchParams({
    ...(after !== undefined && { after: String(after) }),
    ...(until !== undefined && { until: String(until) }),
  });
  const headers = { upgrade: "websocket" };
  const { webSocket, ok, body } = await eventsObject(env, account).fetch(`https://events/?${query}`, { headers });
  if (webSocket) return streamOf(webSocket, until ?? Infinity);
  // For some minutes after a deploy, an object may still run version 0.1.0, which answers with the stream itself and
  // reads `until`.
  if (ok && body) return body;
  throw new Refusal("unknown_error", { message: "This account has too many open streams. Close one of them." });
}
