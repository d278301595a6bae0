import { env } from "cloudflare:workers";

/** Tables whose growth is bounded, with the reasons. They are not filled. */
export const bounded: Readonly<Record<string, string>> = {
  base_systems: "rows of the operator's catalogues",
  template_sets: "rows of the operator's catalogues",
  templates: "rows of the operator's catalogues",
  service_settings: "fixed names",
  sweep_positions: "fixed prefixes",
  counters: "fixed words",
  advisory_feeds: "the formats that Kiln reads",
  exploited_advisories: "a catalogue of two thousand names, which is read once a day",
  chore_runs: "one row for each chore of the code",
  gallery_size: "one row",
  frozen_blobs: "of builds that have not ended, which have slots",
  prepared_roots: "of the last KEEP_PREPARED_HOURS",
  repository_states: "of the last KEEP_REPOSITORIES_DAYS, one a day for each repository of a catalogue",
  event_outbox: "emptied immediately; the sweep sends what is left",
  import_turns: "one for each import that waits or runs",
  reservations: "of requests that are running",
  resumable_upload_parts: "of unfinished uploads, which have a limit",
  released_blobs: "emptied by the sweep",
};

/** Ids that the database does not choose, so that each copied row can refer to copies in other tables. */
const firstCopy = 1_000_000;
const references = ["account_id", "appliance_id", "build_id", "publication_id", "repository_id", "package_id"];

interface Column {
  name: string;
  type: string;
  notnull: 0 | 1;
  pk: number;
}

/** The columns that differ in the copies of a table. In these SQL expressions, `i` is the number of the copy. */
const different: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  appliances: { configuration: "'{}'", configuration_bytes: "2", parent_id: "NULL" },
  // Published images stay, even old ones.
  builds: { status: "'finished'", retired_at: "NULL", expired_at: "NULL", version: "'0.0.1'", completed_at: "i" },
  testdrives: { state: "'ended'" },
  check_runs: { state: "'passed'", checks: "'[]'" },
  publications: { version: "'0.0.1'", definition: "'{}'", software: "'{}'", packages: "''", wants_screen: "0" },
  imports: { id: "'import-' || i", url: "'https://mirror.test/' || i", made_at: "1" },
  repositories: {
    import_id: "'import-' || i",
    catalogue: "NULL",
    url: "'https://mirror.test/' || i",
    checked_at: String(Date.now()),
  },
  // Three hundred in each import.
  packages: {
    import_id: "'import-' || (i / 300)",
    name: "iif(i % 300, 'package' || (i % 300), 'busybox')",
    pattern: "NULL",
  },
  name_pages: { import_id: "'import-' || i" },
  agents: { capabilities: "NULL", last_seen_at: "NULL" },
};

/** The largest tables of a service. Other tables get a tenth of the rows, which is faster. */
const large = new Set([
  "accounts",
  "appliances",
  "audit_log",
  "builds",
  "check_runs",
  "comments",
  "gallery_listings",
  "idempotent_answers",
  "overlay_files",
  "package_needs",
  "packages",
  "publications",
  "sessions",
  "testdrives",
]);

/** Copies a row of each table, or an empty row, until each table has this many copies that belong to other accounts. */
export async function fill({ from, to }: { from: number; to: number }): Promise<void> {
  // Rows that the service adds later get ids after those of all copies.
  for (const database of [env.DB, env.PACKAGES]) {
    await database
      .prepare("UPDATE sqlite_sequence SET seq = max(seq, ?)")
      .bind(2 * firstCopy)
      .run();
    for (const table of await growingTables(database)) {
      const part = large.has(table) ? 1 : 0.1;
      await copies(database, table, { from: from * part + 1, to: to * part });
    }
  }
}

/**
 * Tables that are neither bounded nor part of a full-text index. Accounts and appliances come first, because others
 * refer to them.
 */
export async function growingTables(database: D1Database): Promise<string[]> {
  const { results } = await database
    .prepare(
      `SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'
     AND name NOT LIKE 'sqlite_%' AND name NOT LIKE '%\\_fts%' ESCAPE '\\' AND name NOT LIKE '\\_cf%' ESCAPE '\\' AND name <> 'd1_migrations'`,
    )
    .all<{ name: string }>();
  const first = ["repositories", "appliances", "accounts"];
  const growing = results.map(({ name }) => name).filter((name) => !(name in bounded));
  return growing.toSorted((one, other) => first.indexOf(other) - first.indexOf(one));
}

async function copies(database: D1Database, table: string, { from, to }: { from: number; to: number }): Promise<void> {
  const { results: columns } = await database
    .prepare(`SELECT name, lower(type) AS type, "notnull", pk FROM pragma_table_info(?)`)
    .bind(table)
    .all<Column>();
  const unique = await uniqueColumns(database, table);
  const values = columns.map((column) => different[table]?.[column.name] ?? copyOf(column, unique));
  await database
    .prepare(
      `INSERT INTO ${table} (${columns.map(({ name }) => name).join(", ")})
     WITH RECURSIVE n (i) AS (SELECT ? UNION ALL SELECT i + 1 FROM n WHERE i < ?)
     SELECT ${values.join(", ")} FROM n LEFT JOIN (SELECT * FROM ${table} LIMIT 1) AS one ON 1`,
    )
    .bind(from, to)
    .run();
}

async function uniqueColumns(database: D1Database, table: string): Promise<Set<string>> {
  const { results } = await database
    .prepare(
      `SELECT info.name FROM pragma_index_list(?) AS list, pragma_index_info(list.name) AS info WHERE list."unique"`,
    )
    .bind(table)
    .all<{ name: string }>();
  return new Set(results.map(({ name }) => name));
}

/** Recent enough that no chore removes it. */
const now = Date.now();
const later = now + 24 * 60 * 60_000;

function copyOf({ name, type, notnull, pk }: Column, unique: ReadonlySet<string>): string {
  if (name === "id" && type === "integer") return `${firstCopy} + i`;
  if (references.includes(name)) return `${firstCopy} + i`;
  const isText = type === "text";
  if (isText && (unique.has(name) || pk > 0)) return `coalesce(one.${name}, '') || '-' || i`;
  if (notnull === 0) return `one.${name}`;
  if (isText) return `coalesce(one.${name}, '')`;
  return name.endsWith("_at") ? String(name === "expires_at" ? later : now) : `coalesce(one.${name}, 0)`;
}
