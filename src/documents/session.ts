import { arrayOf, fields, id, text, time } from "#lib/wire/field";
import { document } from "#lib/wire/shape";

const session = fields({
  id: id("id", 5),
  browser: text("browser", "Firefox on Linux"),
  network: text("network", "192.0.2.*").optional(),
  created_at: time("createdAt", "2026-11-01T09:00:00Z"),
  last_used_at: time("lastUsedAt", "2026-11-21T09:00:00Z"),
  expires_at: time("expiresAt", "2026-11-28T09:00:00Z"),
});

/** A Kiln extension: the browsers that an account is signed in with. */
export const sessions = document("Sessions", "sessions", arrayOf("session", session));
