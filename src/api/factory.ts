import { createFactory } from "hono/factory";
import type { Access } from "#domain/accounts/access";
import type { Account } from "#storage/accounts";
import type { Database } from "#storage/db";
import type { ApiVersion } from "#api/versions";

/** What every handler of this door finds on its context. */
export type ApiEnv = {
  Bindings: Env;
  Variables: {
    db: Database;
    account: Account;
    access: Access;
    version: ApiVersion;
    baseUrl: string;
    /** Of a request with an Idempotency-Key: what it makes is named by it, so that its repeat finds it. */
    requestId?: string;
    /** The code of the error that is the answer. */
    refused?: string;
  };
};

// strict: false, because some clients end every path in a slash.
export const factory = createFactory<ApiEnv>({ defaultAppOptions: { strict: false } });
