import { z } from "zod";
import { audited } from "#domain/accounts/audit";
import { revokeTokenOfAnyone } from "#domain/accounts/tokens";
import { factory } from "#admin-api/factory";

const idRule = "A token's id must be a number, as tokens list shows it.";
const TokenId = z
  .string()
  .regex(/^[1-9]\d{0,14}$/, idRule)
  .transform(Number);

export const tokens = factory.createApp().delete("/:id", async (c) => {
  const id = TokenId.parse(c.req.param("id"));
  const db = audited(c.var.db, { event: "token.revoked", actor: "operator", detail: { token_id: id } });
  await revokeTokenOfAnyone({ env: c.env, db }, id);
  return c.json({ revoked: id });
});
