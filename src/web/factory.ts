import { createFactory } from "hono/factory";
import type { Account } from "#storage/accounts";
import type { Database } from "#storage/db";

/** What the pages find on their context. */
export type WebEnv = {
  Bindings: Env;
  Variables: { db: Database; baseUrl: string; account: Account };
};

export const factory = createFactory<WebEnv>({ defaultAppOptions: { strict: false } });
