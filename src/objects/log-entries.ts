import { Buffer } from "node:buffer";
import { leafHash, nodeHash, type NodeAt } from "#lib/attest/log/tree";
import { bringTables } from "./tables.ts";

const tables = [
  `CREATE TABLE entries (position INTEGER PRIMARY KEY, entry TEXT NOT NULL UNIQUE);
   CREATE TABLE nodes (level INTEGER NOT NULL, position INTEGER NOT NULL, hash BLOB NOT NULL,
     PRIMARY KEY (level, position)) WITHOUT ROWID`,
];

/**
 * The entries of the public log, and the hash of each complete subtree above them. Neither is ever changed or deleted.
 */
export class LogEntries {
  readonly #storage: DurableObjectStorage;

  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    bringTables(storage.sql, "log", tables);
  }

  get size(): number {
    const select = "SELECT coalesce(max(position) + 1, 0) AS size FROM entries";
    return this.#storage.sql.exec<{ size: number }>(select).one().size;
  }

  /** Adds an entry unless the log has it. Returns its position. */
  add(entry: string): number {
    return this.#storage.transactionSync(() => {
      const { sql } = this.#storage;
      const find = "SELECT position FROM entries WHERE entry = ?";
      const [found] = sql.exec<{ position: number }>(find, entry).toArray();
      if (found) return found.position;
      const position = this.size;
      sql.exec("INSERT INTO entries (position, entry) VALUES (?, ?)", position, entry);
      this.#addNodes(position, leafHash(entry));
      return position;
    });
  }

  /** The texts of the entries from one position up to another. */
  entries(from: number, to: number): string[] {
    const select = "SELECT entry FROM entries WHERE position >= ? AND position < ? ORDER BY position";
    return [...this.#storage.sql.exec<{ entry: string }>(select, from, to)].map(({ entry }) => entry);
  }

  /** The hashes of neighbours in one level of the tree. */
  hashes(level: number, from: number, to: number): Buffer[] {
    const select = "SELECT hash FROM nodes WHERE level = ? AND position >= ? AND position < ? ORDER BY position";
    return [...this.#storage.sql.exec<{ hash: ArrayBuffer }>(select, level, from, to)].map(({ hash }) =>
      Buffer.from(hash),
    );
  }

  readonly nodeAt: NodeAt = (level, position) => {
    const [hash] = this.hashes(level, position, position + 1);
    if (!hash) throw new Error(`the log has no node ${position} in level ${level}`);
    return hash;
  };

  /** Adds the hash of a leaf, and of every subtree that it completes. */
  #addNodes(position: number, leaf: Buffer): void {
    let hash = leaf;
    for (let level = 0, at = position; ; level += 1, at = (at - 1) / 2) {
      const insert = "INSERT INTO nodes (level, position, hash) VALUES (?, ?, ?)";
      this.#storage.sql.exec(insert, level, at, Uint8Array.from(hash).buffer);
      const [left] = at % 2 === 1 ? this.hashes(level, at - 1, at) : [];
      if (!left) return;
      hash = nodeHash(left, hash);
    }
  }
}
