import type { Database } from "#storage/db";

type Asks = (db: Database, ...rest: never[]) => PromiseLike<unknown>;
type ArgumentsOf<F> = F extends (db: Database, ...rest: infer Rest) => unknown ? Rest : never;

/**
 * For each function of a module that queries the database: lists of arguments that make it send all of its statements.
 */
export type Calls<Module> = {
  readonly [Name in keyof Module as Module[Name] extends Asks ? Name : never]: readonly ArgumentsOf<Module[Name]>[];
};
