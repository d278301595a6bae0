/**
 * Migrates one group of an object's tables to its newest version. Each entry runs once per object, in order; the number
 * of entries that have run is stored. The first entry must accept existing tables, because older code stored no
 * version.
 *
 * A deploy reaches objects one by one, and a rollback brings older code to newer tables. So a later version only adds,
 * and every INSERT names its columns.
 */
export function bringTables(sql: SqlStorage, group: string, versions: readonly string[]): void {
  sql.exec("CREATE TABLE IF NOT EXISTS table_versions (name TEXT PRIMARY KEY, version INTEGER NOT NULL)");
  const [row] = sql.exec<{ version: number }>("SELECT version FROM table_versions WHERE name = ?", group).toArray();
  const at = row?.version ?? 0;
  if (at >= versions.length) return;
  for (const statements of versions.slice(at)) sql.exec(statements);
  sql.exec("INSERT OR REPLACE INTO table_versions (name, version) VALUES (?, ?)", group, versions.length);
}
