import type { Announcement } from "#model/announcement";
import type { EventName } from "#model/event-names";

/** An event as it is kept and told. */
export interface KeptEvent {
  /** Rises by one with each event of the account. */
  id: number;
  event: EventName;
  /** JSON of all that receivers are told. */
  text: string;
}

export const mostKept = 1000;
export const keptForMs = 7 * 24 * 60 * 60_000;
/** Keys are remembered for longer than any object tries to announce. */
const keysKeptForMs = 30 * 24 * 60 * 60_000;

/** The last events of an account, and the keys of all that were announced in a month. */
export class EventLog {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    sql.exec(`CREATE TABLE IF NOT EXISTS events
      (id INTEGER PRIMARY KEY AUTOINCREMENT, event TEXT NOT NULL, told TEXT NOT NULL, at INTEGER NOT NULL)`);
    sql.exec("CREATE TABLE IF NOT EXISTS announced (key TEXT PRIMARY KEY, at INTEGER NOT NULL)");
  }

  /** Undefined: it was announced before. */
  add({ key, event, at, account, subject }: Announcement, now: number): KeptEvent | undefined {
    const insertKey = "INSERT INTO announced VALUES (?, ?) ON CONFLICT DO NOTHING RETURNING key";
    if (this.#sql.exec(insertKey, key, now).toArray().length === 0) return undefined;
    const told = JSON.stringify({ created_at: new Date(at).toISOString(), account, ...subject });
    const insert = "INSERT INTO events (event, told, at) VALUES (?, ?, ?) RETURNING id, event, told";
    const row = this.#sql.exec<Row>(insert, event, told, now).one();
    this.#forget(now);
    return keptOf(row);
  }

  /** Those behind an id, oldest first. */
  after(id: number): KeptEvent[] {
    const rows = this.#sql.exec<Row>("SELECT id, event, told FROM events WHERE id > ? ORDER BY id", id);
    return [...rows].map(keptOf);
  }

  #forget(now: number): void {
    const oldest = "(SELECT max(id) FROM events) - ?";
    this.#sql.exec(`DELETE FROM events WHERE id <= ${oldest} OR at < ?`, mostKept, now - keptForMs);
    this.#sql.exec("DELETE FROM announced WHERE at < ?", now - keysKeptForMs);
  }
}

type Row = { id: number; event: EventName; told: string };

const keptOf = ({ id, event, told }: Row): KeptEvent => ({
  id,
  event,
  text: JSON.stringify({ id, event, ...JSON.parse(told) }),
});
