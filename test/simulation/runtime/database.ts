import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { cross } from "./actors.ts";

/**
 * D1 like the Worker's binding, with SQLite in this process: the real statements and the real migrations. A statement
 * is a transaction, and so is a batch.
 */
export class SimulatedDatabase {
  readonly #sqlite = new DatabaseSync(":memory:");
  readonly #statements = new Map<string, StatementSync>();
  readonly #tables: string[];
  /** The rows that checks have read since the last write. */
  readonly #asked = new Map<string, Record<string, unknown>[]>();
  /** Whether anything was written since the last check. */
  isChanged = false;

  constructor(migrations: readonly string[]) {
    this.#sqlite.exec("PRAGMA foreign_keys = ON");
    for (const migration of migrations) this.#sqlite.exec(migration);
    this.#tables = this.#sqlite
      .prepare("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '%\\_fts%' ESCAPE '\\'")
      .all()
      .map(({ name }) => String(name));
  }

  prepare(sql: string): Statement {
    return new Statement(this, sql);
  }

  batch(statements: Statement[]): Promise<unknown[]> {
    return cross("a batch of D1", () => {
      this.#sqlite.exec("BEGIN");
      try {
        const results = statements.map((statement) => statement.now());
        this.#sqlite.exec("COMMIT");
        return results;
      } catch (error) {
        this.#sqlite.exec("ROLLBACK");
        throw error;
      }
    });
  }

  /** Runs a reading statement immediately. For checks, which take no time and never fail. */
  query(sql: string): Record<string, unknown>[] {
    const rows = this.#asked.get(sql) ?? this.compiled(sql).all();
    this.#asked.set(sql, rows);
    return rows;
  }

  /** Called at each write. */
  changes(): void {
    this.isChanged = true;
    this.#asked.clear();
  }

  compiled(sql: string): StatementSync {
    const statement = this.#statements.get(sql) ?? this.#sqlite.prepare(sql);
    this.#statements.set(sql, statement);
    return statement;
  }

  /** Deletes all rows. */
  reset(): void {
    this.#sqlite.exec("PRAGMA foreign_keys = OFF");
    for (const table of this.#tables) {
      if (this.compiled(`SELECT 1 FROM "${table}" LIMIT 1`).get()) this.compiled(`DELETE FROM "${table}"`).run();
    }
    this.#sqlite.exec("PRAGMA foreign_keys = ON");
    this.changes();
  }
}

class Statement {
  readonly #database: SimulatedDatabase;
  readonly #sql: string;
  #values: SQLInputValue[] = [];

  constructor(database: SimulatedDatabase, sql: string) {
    this.#database = database;
    this.#sql = sql;
  }

  bind(...values: unknown[]): Statement {
    const bound = new Statement(this.#database, this.#sql);
    bound.#values = values.map(inputOf);
    return bound;
  }

  all = () => cross(this.#what, () => this.now());
  run = this.all;
  raw = () => cross(this.#what, () => this.#rows());
  first = async (column: string) => (await this.all()).results[0]?.[column] ?? null;

  now() {
    if (!this.#isRead) this.#database.changes();
    const results = this.#database.compiled(this.#sql).all(...this.#values);
    return { results, success: true, meta: { changes: 0 } };
  }

  #rows(): unknown[][] {
    if (!this.#isRead) this.#database.changes();
    const statement = this.#database.compiled(this.#sql);
    statement.setReturnArrays(true);
    try {
      return statement.all(...this.#values) as unknown as unknown[][];
    } finally {
      statement.setReturnArrays(false);
    }
  }

  get #isRead(): boolean {
    return /^\s*select/i.test(this.#sql);
  }

  get #what(): string {
    return `D1: ${this.#sql.slice(0, 60)}`;
  }
}

/** A value in a form that SQLite accepts. */
export function inputOf(value: unknown): SQLInputValue {
  if (typeof value === "boolean") return Number(value);
  if (value === undefined) return null;
  if (value instanceof ArrayBuffer) return new Uint8Array(value);
  return value as SQLInputValue;
}
