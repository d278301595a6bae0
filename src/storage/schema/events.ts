import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { Announcement } from "#model/announcement";
import type { EventName } from "#model/event-names";
import { id, moment, uid } from "./columns.ts";

/** URLs that receive an account's events. Their deliveries are in the account's Events object. */
export const webhooks = sqliteTable(
  "webhooks",
  {
    id: id(),
    uid: uid(),
    accountId: integer("account_id").notNull(),
    url: text("url").notNull(),
    events: text("events", { mode: "json" }).notNull().$type<EventName[]>(),
    /** The secret that signs the webhook's deliveries, encrypted with the service's key. */
    secretCipher: text("secret_cipher").notNull(),
    createdAt: moment("created_at").notNull(),
    /** The first failure since the last success; null if the last delivery succeeded or there was none. */
    failingSince: moment("failing_since"),
    /** Why the webhook is disabled; null if it is enabled. */
    disabledReason: text("disabled_reason"),
  },
  (table) => [index("webhooks_account").on(table.accountId)],
);

/**
 * Events that may not have been announced yet. They are written in one batch with their cause, and deleted once the
 * account's Events object has them.
 */
export const eventOutbox = sqliteTable(
  "event_outbox",
  {
    id: id(),
    accountId: integer("account_id").notNull(),
    announcement: text("announcement", { mode: "json" }).notNull().$type<Announcement>(),
    /** When the event was last tried or, before that, written. The event that has waited longest is next. */
    triedAt: moment("tried_at").notNull(),
  },
  (table) => [index("event_outbox_tried").on(table.triedAt), index("event_outbox_account").on(table.accountId)],
);
