import type { Token } from "#storage/tokens";
import { arrayOf, fields, id, oneOf, text, time } from "#lib/wire/field";
import { document } from "#lib/wire/shape";

const tokenFields = {
  id: id("id", 3),
  name: text("name", "nightly builds"),
  scope: oneOf("scope", ["read", "build", "publish"]),
  appliance_id: id(({ applianceId }: Token) => applianceId, 1004).optional(),
  created_at: time("createdAt", "2026-11-01T09:00:00Z"),
  expires_at: time("expiresAt", "2027-11-01T09:00:00Z").optional(),
  last_used_at: time("lastUsedAt", "2026-11-21T09:00:00Z").optional(),
};
const tokenShape = fields(tokenFields);

export const tokens = document("Tokens", "tokens", arrayOf("token", tokenShape));
/** The secret is shown only once, when the token is created. */
export const newToken = document(
  "NewToken",
  "token",
  fields({ ...tokenFields, secret: text("secret", "kiln_hV3q0yQm5oVbJ2kq4s8nW1xZ7cR9tL6d") }),
);
