import type { Database } from "#storage/db";

type Asks = (db: Database, ...rest: never[]) => PromiseLike<unknown>;
type ArgumentsOf<F> = F extends (db: Database, ...rest: infer Rest) => unknown ? Rest : never;

/** For each function of a module that asks the database: lists of arguments with which all of its statements are sent. */
export type Calls<Module> = {
  readonly [Name in keyof Module as Module[Name] extends Asks ? Name : never]: readonly ArgumentsOf<Module[Name]>[];
};
