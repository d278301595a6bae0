import { createFactory } from "hono/factory";
import type { Access } from "#domain/accounts/access";
import type { Account } from "#storage/accounts";
import type { Database } from "#storage/db";
import type { ApiVersion } from "#api/versions";

/** The context of every handler of this entry point. */
export type ApiEnv = {
  Bindings: Env;
  Variables: {
    db: Database;
    account: Account;
    access: Access;
    version: ApiVersion;
    baseUrl: string;
    /**
     * Set if the request has an Idempotency-Key. Whatever the request creates is stored with this id, so that a
     * repeated request finds it.
     */
    requestId?: string;
    /** The error code, if the answer is an error. */
    refused?: string;
  };
};

export const factory = createFactory<ApiEnv>();
