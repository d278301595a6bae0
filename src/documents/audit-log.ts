import { auditEvents } from "#model/audit-events";
import type { AuditEntry } from "#storage/audit-log";
import { arrayOf, fields, id, int, oneOf, text, time } from "#lib/wire/field";
import { document } from "#lib/wire/shape";

const entry = fields({
  id: id("id", 812),
  at: time("at", "2026-11-21T09:00:00Z"),
  event: oneOf("event", auditEvents),
  by: text("actor", "key").unlessEmpty(),
  address: text("address", "192.0.2.7").optional(),
  count: int("count", 1),
  appliance_id: id(({ detail }: AuditEntry) => detail.appliance_id, 1004).optional(),
  version: text(({ detail }: AuditEntry) => detail.version, "0.0.3").optional(),
  channel: text(({ detail }: AuditEntry) => detail.channel, "stable").optional(),
  username: text(({ detail }: AuditEntry) => detail.username, "odo").optional(),
  token_id: id(({ detail }: AuditEntry) => detail.token_id, 3).optional(),
  token_name: text(({ detail }: AuditEntry) => detail.token_name, "nightly builds").optional(),
  session_id: id(({ detail }: AuditEntry) => detail.session_id, 5).optional(),
  scope: text(({ detail }: AuditEntry) => detail.scope, "build").optional(),
  quota: text(({ detail }: AuditEntry) => detail.quota, "50GB").optional(),
});

/** A Kiln extension: the acts with an account. */
export const auditLog = document("AuditLog", "audit_log", arrayOf("entry", entry));
