import type { D1Database } from "@cloudflare/workers-types";
import { sql, type SQL } from "drizzle-orm";
import { drizzle, type DrizzleD1Database } from "drizzle-orm/d1";
import * as schema from "./schema.ts";

export type Database = DrizzleD1Database<typeof schema>;

// drizzle computes the relations of the whole schema each time it opens one; a binding lives as long as its isolate.
const opened = new WeakMap<D1Database, Database>();

/** Opens the database of a binding. */
export function openDatabase(d1: D1Database): Database {
  const database = opened.get(d1) ?? drizzle(d1, { schema });
  opened.set(d1, database);
  return database;
}

/** A frequent query, which drizzle builds once for each database; its values are placeholders. */
export function prepared<Query>(prepare: (db: Database) => Query): (db: Database) => Query {
  const queries = new WeakMap<Database, Query>();
  return (db) => {
    const query = queries.get(db) ?? prepare(db);
    queries.set(db, query);
    return query;
  };
}

/** The values of a list as one bound parameter, because D1 takes at most a hundred parameters. */
export const fromJson = (values: readonly (number | string)[]): SQL =>
  sql`(SELECT value FROM json_each(${JSON.stringify(values)}))`;
