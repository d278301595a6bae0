import { deserialize, serialize } from "node:v8";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { currentActor } from "./actors.ts";
import { inputOf } from "./database.ts";

/** Storages with writes that are not durable yet. */
const unsaved = new Set<ObjectStorage>();

/**
 * Makes the writes of objects since their last wait durable, as the platform does before anything leaves the objects.
 */
export function saveAll(): void {
  for (const storage of unsaved) storage.commit();
  unsaved.clear();
}

export const forgetUnsaved = (): void => unsaved.clear();

/** The storage of one Durable Object: its own SQLite database, and one alarm. */
export class ObjectStorage {
  readonly #sqlite = new DatabaseSync(":memory:");
  readonly #statements = new Map<string, StatementSync>();
  /** The values that were last read or written, so that another read needs no statement. */
  readonly #known = new Map<string, Uint8Array | undefined>();
  /** Decoded values, for checks. */
  readonly #decoded = new Map<string, { bytes: Uint8Array | undefined; value: unknown }>();
  readonly #onAlarm: () => void;
  #alarm: number | null = null;
  #alarmBefore: number | null = null;

  constructor(onAlarm: () => void) {
    this.#onAlarm = onAlarm;
    this.#sqlite.exec(kvTable);
  }

  get alarm(): number | null {
    return this.#alarm;
  }

  takeAlarm(): void {
    this.#alarm = null;
  }

  readonly sql = {
    exec: (query: string, ...values: unknown[]) => {
      this.#begin();
      if (values.length === 0 && isSeveral(query)) {
        this.#sqlite.exec(query);
        return new Cursor([]);
      }
      return new Cursor(this.#compiled(query).all(...values.map(inputOf)));
    },
  };

  readonly kv = {
    get: (key: string): unknown => {
      const bytes = this.#bytesOf(key);
      return bytes && deserialize(bytes);
    },
    put: (key: string, value: unknown): void => {
      this.#begin();
      const bytes = serialize(value);
      this.#compiled("INSERT OR REPLACE INTO _kv (key, value) VALUES (?, ?)").run(key, bytes);
      this.#known.set(key, bytes);
    },
    delete: (key: string): boolean => {
      this.#begin();
      this.#known.delete(key);
      return this.#compiled("DELETE FROM _kv WHERE key = ?").run(key).changes === 1;
    },
    list: ({ prefix = "" }: { prefix?: string } = {}): [string, unknown][] =>
      this.#compiled("SELECT key, value FROM _kv WHERE substr(key, 1, ?) = ? ORDER BY key")
        .all(prefix.length, prefix)
        .map(({ key, value }) => [String(key), deserialize(value as Uint8Array)]),
  };

  transactionSync<T>(work: () => T): T {
    return work(); // writes without a wait in between are one transaction anyway
  }

  async setAlarm(at: number | Date): Promise<void> {
    this.#begin();
    this.#alarm = Number(at);
    this.#onAlarm();
  }

  async deleteAlarm(): Promise<void> {
    this.#begin();
    this.#alarm = null;
  }

  async getAlarm(): Promise<number | null> {
    return this.#alarm;
  }

  async deleteAll(): Promise<void> {
    this.#begin();
    const tables = this.#sqlite.prepare(
      "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'",
    );
    for (const { name } of tables.all()) this.#sqlite.exec(`DROP TABLE "${String(name)}"`);
    this.#statements.clear();
    this.#known.clear();
    this.#sqlite.exec(kvTable);
  }

  /** For checks, which take no time. */
  read(query: string): Record<string, unknown>[] {
    return this.#compiled(query).all();
  }

  /** For checks, which do not change the value. Decodes it only after a write. */
  peek(key: string): unknown {
    const bytes = this.#bytesOf(key);
    const known = this.#decoded.get(key);
    if (known && known.bytes === bytes) return known.value;
    const value: unknown = bytes && deserialize(bytes);
    this.#decoded.set(key, { bytes, value });
    return value;
  }

  commit(): void {
    if (this.#sqlite.isTransaction) this.#compiled("COMMIT").run();
  }

  rollback(): void {
    unsaved.delete(this);
    if (!this.#sqlite.isTransaction) return;
    this.#sqlite.exec("ROLLBACK");
    this.#known.clear();
    this.#alarm = this.#alarmBefore;
    if (this.#alarm !== null) this.#onAlarm();
  }

  close(): void {
    this.#sqlite.close();
  }

  #bytesOf(key: string): Uint8Array | undefined {
    if (!this.#known.has(key)) {
      const row = this.#compiled("SELECT value FROM _kv WHERE key = ?").get(key);
      this.#known.set(key, row?.["value"] as Uint8Array | undefined);
    }
    return this.#known.get(key);
  }

  #begin(): void {
    if (currentActor()?.isDead) throw new Error("simulated: this object is dead");
    if (this.#sqlite.isTransaction) return;
    this.#compiled("BEGIN").run();
    this.#alarmBefore = this.#alarm;
    unsaved.add(this);
  }

  #compiled(query: string): StatementSync {
    const statement = this.#statements.get(query) ?? this.#sqlite.prepare(query);
    this.#statements.set(query, statement);
    return statement;
  }
}

const kvTable = "CREATE TABLE IF NOT EXISTS _kv (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID";

const several = new Map<string, boolean>();

/** Whether the query consists of several statements. */
function isSeveral(query: string): boolean {
  const known = several.get(query) ?? query.trim().replace(/;$/, "").includes(";");
  several.set(query, known);
  return known;
}

class Cursor {
  readonly #rows: Record<string, unknown>[];

  constructor(rows: Record<string, unknown>[]) {
    for (const row of rows) for (const name in row) row[name] = outputOf(row[name]);
    this.#rows = rows;
  }

  toArray = () => this.#rows;
  [Symbol.iterator] = () => this.#rows[Symbol.iterator]();
  one = () => {
    const [row, ...more] = this.#rows;
    if (!row || more.length > 0) throw new Error(`expected one row, not ${this.#rows.length}`);
    return row;
  };
}

const outputOf = (value: unknown): unknown => (value instanceof Uint8Array ? Uint8Array.from(value).buffer : value);
