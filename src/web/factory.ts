import { createFactory } from "hono/factory";
import type { Account } from "#storage/accounts";
import type { Database } from "#storage/db";
import type { Session } from "#storage/sessions";

/** The context of the pages: with an account after a sign-in, with a session and the token of its forms after `withSession`. */
export type WebEnv = {
  Bindings: Env;
  Variables: { db: Database; baseUrl: string; account: Account; session: Session; formToken: string };
};

export const factory = createFactory<WebEnv>({ defaultAppOptions: { strict: false } });
