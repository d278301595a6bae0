import { sql } from "drizzle-orm";
import { index, integer, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { Scope } from "#model/scope";
import { id, moment, uid } from "./columns.ts";

/** Tokens, which give access to some calls of an account. The secret is not stored: a token is found by its HMAC. */
export const tokens = sqliteTable(
  "tokens",
  {
    id: id(),
    uid: uid(),
    accountId: integer("account_id").notNull(),
    name: text("name").notNull(),
    scope: text("scope").notNull().$type<Scope>(),
    /** The only appliance that the token gives access to; null for all appliances of the account. */
    applianceId: integer("appliance_id"),
    tokenHmac: text("token_hmac").notNull().unique(),
    createdAt: moment("created_at").notNull(),
    /** Null if the token does not expire. */
    expiresAt: moment("expires_at"),
    /** Exact to the minute. */
    lastUsedAt: moment("last_used_at"),
  },
  (table) => [
    index("tokens_account").on(table.accountId, table.id),
    index("tokens_appliance")
      .on(table.applianceId)
      .where(sql`appliance_id IS NOT NULL`),
  ],
);
