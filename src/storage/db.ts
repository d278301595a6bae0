import type { D1Database } from "@cloudflare/workers-types";
import { sql, type SQL } from "drizzle-orm";
import { drizzle, type DrizzleD1Database } from "drizzle-orm/d1";
import * as schema from "./schema.ts";
import * as packageSchema from "./schema/packages.ts";

/** The packages of imported repositories. A large repository has tens of megabytes, so they may have their own D1. */
export type PackageDatabase = DrizzleD1Database<typeof packageSchema>;

export type Database = DrizzleD1Database<typeof schema> & { readonly packages: PackageDatabase };

/** The bindings of D1. Both may be the same database, as on one machine, but no statement may read both. */
export type Databases = Record<"DB" | "PACKAGES", D1Database>;

// drizzle computes the relations of the whole schema each time it opens one; a binding lives as long as its isolate.
const opened = new WeakMap<D1Database, Database>();

export function openDatabase({ DB, PACKAGES }: Databases): Database {
  const database = opened.get(DB) ?? opening({ DB, PACKAGES });
  opened.set(DB, database);
  return database;
}

const opening = ({ DB, PACKAGES }: Databases): Database =>
  Object.assign(drizzle(DB, { schema }), { packages: drizzle(PACKAGES, { schema: packageSchema }) });

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
