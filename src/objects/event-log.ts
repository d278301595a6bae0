import type { Announcement } from "#model/announcement";
import type { EventName } from "#model/event-names";
import { bringTables } from "./tables.ts";

/** An event as it is stored and sent. */
export interface StoredEvent {
  /** Increases by one with each event of the account. */
  id: number;
  event: EventName;
  /** The JSON text that receivers get. */
  text: string;
}

const maxEvents = 1000;
const eventRetentionMs = 7 * 24 * 60 * 60_000;
/** Keys are kept for longer than any object tries to announce an event. */
const keyRetentionMs = 30 * 24 * 60 * 60_000;

const tables = [
  `CREATE TABLE IF NOT EXISTS events
     (id INTEGER PRIMARY KEY AUTOINCREMENT, event TEXT NOT NULL, document TEXT NOT NULL, at INTEGER NOT NULL);
   CREATE TABLE IF NOT EXISTS announced (key TEXT PRIMARY KEY, at INTEGER NOT NULL)`,
];

/** The latest events of an account, and the keys of all its events of the last 30 days. */
export class EventLog {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    bringTables(sql, "events", tables);
  }

  /** Adds an event; undefined if it was announced before. */
  add({ key, event, at, account, subject }: Announcement, now: number): StoredEvent | undefined {
    const insertKey = "INSERT INTO announced (key, at) VALUES (?, ?) ON CONFLICT DO NOTHING RETURNING key";
    if (this.#sql.exec(insertKey, key, now).toArray().length === 0) return undefined;
    const document = JSON.stringify({ created_at: new Date(at).toISOString(), account, ...subject });
    const insert = "INSERT INTO events (event, document, at) VALUES (?, ?, ?) RETURNING id, event, document";
    const row = this.#sql.exec<Row>(insert, event, document, now).one();
    this.#forget(now);
    return storedOf(row);
  }

  /** The events after an id, oldest first. */
  after(id: number): StoredEvent[] {
    const rows = this.#sql.exec<Row>("SELECT id, event, document FROM events WHERE id > ? ORDER BY id", id);
    return [...rows].map(storedOf);
  }

  /** The latest events with these names, newest first. */
  latest(names: readonly EventName[], limit: number): StoredEvent[] {
    const select = `SELECT id, event, document FROM events
      WHERE event IN (SELECT value FROM json_each(?)) ORDER BY id DESC LIMIT ?`;
    return [...this.#sql.exec<Row>(select, JSON.stringify(names), limit)].map(storedOf);
  }

  #forget(now: number): void {
    const oldest = "(SELECT max(id) FROM events) - ?";
    this.#sql.exec(`DELETE FROM events WHERE id <= ${oldest} OR at < ?`, maxEvents, now - eventRetentionMs);
    this.#sql.exec("DELETE FROM announced WHERE at < ?", now - keyRetentionMs);
  }
}

type Row = { id: number; event: EventName; document: string };

const storedOf = ({ id, event, document }: Row): StoredEvent => ({
  id,
  event,
  text: JSON.stringify({ id, event, ...JSON.parse(document) }),
});
