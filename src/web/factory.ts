import { createFactory } from "hono/factory";
import type { Account } from "#storage/accounts";
import type { Database } from "#storage/db";

/** The context of the pages. */
export type WebEnv = {
  Bindings: Env;
  Variables: { db: Database; baseUrl: string; account: Account };
};

export const factory = createFactory<WebEnv>({ defaultAppOptions: { strict: false } });
