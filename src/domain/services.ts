import type { Database } from "#storage/db";

/** The variables and bindings that a function uses, and the database of the request. */
export interface Services<E = Env> {
  env: E;
  db: Database;
}
