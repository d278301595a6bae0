import { index, integer, sqliteTable, text, uniqueIndex } from "drizzle-orm/sqlite-core";
import type { AuditDetail, AuditEvent } from "#model/audit-events";
import { id, moment } from "./columns.ts";

/** Acts that matter for security. Repetitions within a minute are counted in one row. */
export const auditLog = sqliteTable(
  "audit_log",
  {
    id: id(),
    /** 0 for acts of the operator or of an agent. */
    accountId: integer("account_id").notNull(),
    event: text("event").notNull().$type<AuditEvent>(),
    /** `key`, `page`, `token 3`, `operator` or `service`; empty for a failed sign-in. */
    actor: text("actor").notNull(),
    detail: text("detail", { mode: "json" }).notNull().$type<AuditDetail>(),
    /** The client's address, at the first act that the row counts. */
    address: text("address"),
    at: moment("at").notNull(),
    /** Minutes since 1970. */
    minute: integer("minute").notNull(),
    count: integer("count").notNull().default(1),
  },
  (table) => [
    uniqueIndex("audit_log_minute").on(table.accountId, table.minute, table.event, table.actor, table.detail),
    index("audit_log_account").on(table.accountId, table.id),
    index("audit_log_at").on(table.at),
  ],
);
