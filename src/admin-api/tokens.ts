import { z } from "zod";
import { note } from "#domain/accounts/audit";
import { revokeTokenOfAnyone } from "#domain/accounts/tokens";
import { factory } from "#admin-api/factory";

const idRule = "A token's id is a number, as tokens list shows it.";
const TokenId = z
  .string()
  .regex(/^[1-9]\d{0,14}$/, idRule)
  .transform(Number);

export const tokens = factory.createApp().delete("/:id", async (c) => {
  const id = TokenId.parse(c.req.param("id"));
  const { id: accountId } = await revokeTokenOfAnyone(c.env, c.var.db, id);
  await note(c.var.db, { event: "token.revoked", actor: "operator", accountId, detail: { token_id: id } });
  return c.json({ revoked: id });
});
