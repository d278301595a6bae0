import type { Database } from "#storage/db";

/** What a function works on: the variables and bindings that it uses, and the database of the request. */
export interface Services<E = Env> {
  env: E;
  db: Database;
}
