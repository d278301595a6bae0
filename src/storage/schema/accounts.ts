import { sql } from "drizzle-orm";
import { index, integer, real, sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { Capabilities } from "#lib/contract/index";
import { id, moment, uid } from "./columns.ts";

/** Accounts. The API key is found by its HMAC and shown again from its cipher; neither alone reveals it. */
export const accounts = sqliteTable(
  "accounts",
  {
    id: id(),
    uid: uid(),
    username: text("username").notNull().unique(),
    displayName: text("display_name").notNull(),
    email: text("email").notNull(),
    apiKeyHmac: text("api_key_hmac").notNull().unique(),
    apiKeyCipher: text("api_key_cipher").notNull(),
    passwordHash: text("password_hash").notNull(),
    createdAt: moment("created_at").notNull(),
    /** When the operator locked the account; null if it is not locked. */
    lockedAt: moment("locked_at"),
    /** The account's own disk quota; null for the default quota. */
    quotaGb: real("quota_gb"),
    /** Whether the account may use the operator's pages. */
    isOperator: integer("is_operator", { mode: "boolean" }).notNull().default(false),
    /** Whether the account gets mail about advisories for its images. */
    mailsAdvisories: integer("mails_advisories", { mode: "boolean" }).notNull().default(false),
    /** When the account was removed. The row is deleted last, after everything else of the account. */
    removedAt: moment("removed_at"),
    /** When the sweep last continued the removal. */
    removalTriedAt: moment("removal_tried_at"),
  },
  (table) => [
    index("accounts_removal")
      .on(table.removalTriedAt)
      .where(sql`removed_at IS NOT NULL`),
  ],
);

/** Builder agents, identified by their token. */
export const agents = sqliteTable(
  "agents",
  {
    id: id(),
    name: text("name").notNull().unique(),
    tokenHmac: text("token_hmac").notNull().unique(),
    capabilities: text("capabilities", { mode: "json" }).$type<Capabilities>(),
    createdAt: moment("created_at").notNull(),
    lastSeenAt: moment("last_seen_at"),
    /** When the agent was drained, so that it gets no new work; null if it gets new work. */
    drainedAt: moment("drained_at"),
  },
  (table) => [
    index("agents_capabilities")
      .on(table.capabilities)
      .where(sql`capabilities IS NOT NULL`),
    index("agents_seen").on(table.lastSeenAt),
  ],
);
