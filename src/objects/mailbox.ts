import { DurableObject } from "cloudflare:workers";
import { Buffer } from "node:buffer";
import { bringTables } from "./tables.ts";

export interface QueuedMessage {
  id: string;
  /** JSON text. */
  body: string;
  sentAt: number;
}

/** A message in the form of Cloudflare's pull API. */
export interface PulledMessage {
  id: string;
  body: string;
  timestamp_ms: number;
  attempts: number;
  lease_id: string;
  metadata: Record<string, string>;
}

export interface Acknowledgement {
  acks: string[];
  retries: { leaseId: string; delayMs: number }[];
}

// As in a Cloudflare queue: how often a message is delivered, and how long it is stored.
const maxDeliveries = 6;
const retentionMs = 4 * 24 * 60 * 60_000;

const tables = [
  `CREATE TABLE IF NOT EXISTS letters (id TEXT PRIMARY KEY, body TEXT NOT NULL, sent_at INTEGER NOT NULL,
     deliveries INTEGER NOT NULL DEFAULT 0, visible_at INTEGER NOT NULL DEFAULT 0, lease TEXT)`,
];

/** A queue with the semantics of Cloudflare's HTTP pull consumers, for the embedded mode. */
export class Mailbox extends DurableObject<Env> {
  readonly #sql: SqlStorage;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#sql = ctx.storage.sql;
    bringTables(this.#sql, "letters", tables);
  }

  /** Adds messages. The sender may send a message twice. A wake-up that is still waiting is stored once. */
  put(messages: QueuedMessage[]): void {
    for (const { id, body, sentAt } of messages) {
      this.#sql.exec(
        `INSERT OR IGNORE INTO letters (id, body, sent_at)
         SELECT ?, ?, ? WHERE NOT EXISTS
           (SELECT 1 FROM letters WHERE body = ? AND (lease IS NULL OR visible_at <= ?))`,
        id,
        body,
        sentAt,
        body,
        Date.now(),
      );
    }
  }

  /** Delivers messages. Each is invisible during its lease, and delivered again unless it was acknowledged. */
  pull({ batchSize, visibilityTimeoutMs }: { batchSize: number; visibilityTimeoutMs: number }): {
    messages: PulledMessage[];
    backlog: number;
  } {
    const now = Date.now();
    this.#sql.exec("DELETE FROM letters WHERE sent_at < ?", now - retentionMs);
    this.#sql.exec("DELETE FROM letters WHERE visible_at <= ? AND deliveries >= ?", now, maxDeliveries);
    const due = this.#sql.exec<{ id: string; body: string; sent_at: number; deliveries: number }>(
      "SELECT id, body, sent_at, deliveries FROM letters WHERE visible_at <= ? ORDER BY visible_at, sent_at, rowid LIMIT ?",
      now,
      batchSize,
    );
    const messages = due.toArray().map((message): PulledMessage => {
      const lease = crypto.randomUUID();
      this.#sql.exec(
        "UPDATE letters SET lease = ?, deliveries = deliveries + 1, visible_at = ? WHERE id = ?",
        lease,
        now + visibilityTimeoutMs,
        message.id,
      );
      return {
        id: message.id,
        body: Buffer.from(message.body).toString("base64"),
        timestamp_ms: message.sent_at,
        attempts: message.deliveries + 1,
        lease_id: `${message.id}.${lease}`,
        metadata: { "CF-Content-Type": "json" },
      };
    });
    return {
      messages,
      backlog: this.#sql.exec<{ count: number }>("SELECT count(*) AS count FROM letters").one().count,
    };
  }

  /** As on Cloudflare, an acknowledgement counts even after its lease, a retry only within it. */
  acknowledge({ acks, retries }: Acknowledgement) {
    const warnings: Record<string, string> = {};
    const warn = (leaseId: string, warning: string) => {
      warnings[leaseId] = warning;
      return false;
    };
    const acked = acks.filter((leaseId) => this.#remove(leaseId) || warn(leaseId, "message not found"));
    const again = retries.filter(
      ({ leaseId, delayMs }) => this.#giveBack(leaseId, delayMs) || warn(leaseId, "lease not found or expired"),
    );
    return { ackCount: acked.length, retryCount: again.length, warnings };
  }

  #remove(leaseId: string): boolean {
    const { id } = partsOf(leaseId);
    return this.#sql.exec("DELETE FROM letters WHERE id = ? RETURNING id", id).toArray().length > 0;
  }

  #giveBack(leaseId: string, delayMs: number): boolean {
    const { id, lease } = partsOf(leaseId);
    const given = this.#sql.exec(
      "UPDATE letters SET lease = NULL, visible_at = ? WHERE id = ? AND lease = ? RETURNING id",
      Date.now() + delayMs,
      id,
      lease,
    );
    return given.toArray().length > 0;
  }
}

function partsOf(leaseId: string): { id: string; lease: string } {
  const dot = leaseId.lastIndexOf(".");
  return { id: leaseId.slice(0, Math.max(0, dot)), lease: leaseId.slice(dot + 1) };
}
