import type { Attempted, Delivery } from "#domain/events/delivery";
import type { Outcome } from "#domain/events/post";
import type { StoredEvent } from "./event-log.ts";
import { bringTables } from "./tables.ts";

export const maxListed = 100;
/** The maximum number of waiting deliveries, so that replays cannot fill the object. */
const maxWaiting = 2000;

const tables = [
  `CREATE TABLE IF NOT EXISTS deliveries (id INTEGER PRIMARY KEY AUTOINCREMENT,
     webhookId TEXT NOT NULL, eventId INTEGER NOT NULL, event TEXT NOT NULL, body TEXT NOT NULL, state TEXT NOT NULL,
     attempts INTEGER NOT NULL, nextAt INTEGER, status INTEGER, problem TEXT, createdAt INTEGER NOT NULL,
     attemptedAt INTEGER);
   CREATE INDEX IF NOT EXISTS deliveries_next ON deliveries (webhookId, nextAt);
   CREATE TABLE IF NOT EXISTS repeats (requestId TEXT PRIMARY KEY, deliveryId INTEGER NOT NULL)`,
];

/** The deliveries of an account's webhooks: all waiting ones, and the latest finished ones of each webhook. */
export class WebhookDeliveries {
  readonly #sql: SqlStorage;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
    bringTables(sql, "deliveries", tables);
  }

  /** Adds a delivery that is due immediately. */
  add(webhookUid: string, { id, event, text }: StoredEvent, now: number): void {
    this.#insert([webhookUid, id, event, text, now, now]);
  }

  /** Adds a delivery with the same body, once for each request. */
  repeat(
    webhookUid: string,
    { id, requestId }: { id: number; requestId: string | undefined },
    now: number,
  ): { delivery: Delivery } | { refused: "unknown" | "full" } {
    const [done] = this.#rows("id = (SELECT deliveryId FROM repeats WHERE requestId = ?)", requestId ?? "");
    if (done) return { delivery: done };
    const found = this.#rows("webhookId = ? AND id = ?", webhookUid, id)[0];
    if (!found) return { refused: "unknown" };
    const waiting = this.#sql.exec<{ n: number }>("SELECT count(*) AS n FROM deliveries WHERE state = 'waiting'").one();
    if (waiting.n >= maxWaiting) return { refused: "full" };
    const delivery = this.#insert([webhookUid, found.eventId, found.event, found.body, now, now]);
    if (requestId !== undefined)
      this.#sql.exec("INSERT OR REPLACE INTO repeats (requestId, deliveryId) VALUES (?, ?)", requestId, delivery.id);
    return { delivery };
  }

  /** The due deliveries, oldest first. */
  due(webhookUid: string, now: number, most: number): Delivery[] {
    return this.#rows("webhookId = ? AND nextAt <= ? ORDER BY id LIMIT ?", webhookUid, now, most);
  }

  /** The latest deliveries, newest first. */
  list(webhookUid: string): Delivery[] {
    return this.#rows("webhookId = ? ORDER BY id DESC LIMIT ?", webhookUid, maxListed);
  }

  record({ id, webhookId }: Delivery, { state, attempts, nextAt }: Attempted, outcome: Outcome & { at: number }): void {
    const [status, problem] = "status" in outcome ? [outcome.status, null] : [null, outcome.problem];
    this.#sql.exec(
      "UPDATE deliveries SET state = ?, attempts = ?, nextAt = ?, status = ?, problem = ?, attemptedAt = ? WHERE id = ?",
      state,
      attempts,
      nextAt,
      status,
      problem,
      outcome.at,
      id,
    );
    this.#forgetOld(webhookId);
  }

  /** Gives up all waiting deliveries. */
  giveUp(webhookUid: string): void {
    this.#sql.exec(
      "UPDATE deliveries SET state = 'failed', nextAt = NULL WHERE webhookId = ? AND nextAt > 0",
      webhookUid,
    );
    this.#forgetOld(webhookUid);
  }

  /** When the next delivery is due; null if none is waiting. */
  get nextAt(): number | null {
    return this.#sql.exec<{ at: number | null }>("SELECT min(nextAt) AS at FROM deliveries").one().at;
  }

  /** Deletes the deliveries of webhooks that no longer exist. */
  forgetAllBut(webhookUids: readonly string[]): void {
    const kept = JSON.stringify(webhookUids);
    this.#sql.exec("DELETE FROM deliveries WHERE webhookId NOT IN (SELECT value FROM json_each(?))", kept);
  }

  forget(webhookUid: string): void {
    this.#sql.exec("DELETE FROM deliveries WHERE webhookId = ?", webhookUid);
  }

  #forgetOld(webhookUid: string | number): void {
    const last = "SELECT id FROM deliveries WHERE webhookId = ?1 ORDER BY id DESC LIMIT ?2";
    this.#sql.exec(
      `DELETE FROM deliveries WHERE webhookId = ?1 AND nextAt IS NULL AND id NOT IN (${last})`,
      webhookUid,
      maxListed,
    );
    this.#sql.exec("DELETE FROM repeats WHERE deliveryId NOT IN (SELECT id FROM deliveries)");
  }

  #insert(values: readonly (string | number)[]): Delivery {
    const columns = "(webhookId, eventId, event, body, createdAt, nextAt, state, attempts)";
    const insert = `INSERT INTO deliveries ${columns} VALUES (?, ?, ?, ?, ?, ?, 'waiting', 0) RETURNING *`;
    return { ...this.#sql.exec<Row>(insert, ...values).one() };
  }

  #rows(where: string, ...bound: (string | number)[]): Delivery[] {
    return [...this.#sql.exec<Row>(`SELECT * FROM deliveries WHERE ${where}`, ...bound)];
  }
}

type Row = { [Name in keyof Delivery]: Delivery[Name] };
