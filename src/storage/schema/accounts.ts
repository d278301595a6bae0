import { sqliteTable, text } from "drizzle-orm/sqlite-core";
import type { Capabilities } from "#contract/index";
import { id, moment, uid } from "./columns.ts";

/** People. The API key is found by its HMAC and shown again from its cipher; neither gives it away alone. */
export const accounts = sqliteTable("accounts", {
  id: id(),
  uid: uid(),
  username: text("username").notNull().unique(),
  displayName: text("display_name").notNull(),
  email: text("email").notNull(),
  apiKeyHmac: text("api_key_hmac").notNull().unique(),
  apiKeyCipher: text("api_key_cipher").notNull(),
  passwordHash: text("password_hash").notNull(),
  createdAt: moment("created_at").notNull(),
  /** Since when the operator lets nobody sign in; null: it is open. */
  lockedAt: moment("locked_at"),
});

/** Builder agents, known by their token. */
export const agents = sqliteTable("agents", {
  id: id(),
  name: text("name").notNull().unique(),
  tokenHmac: text("token_hmac").notNull().unique(),
  capabilities: text("capabilities", { mode: "json" }).$type<Capabilities>(),
  createdAt: moment("created_at").notNull(),
  lastSeenAt: moment("last_seen_at"),
});
