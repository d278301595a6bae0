import { z } from "zod";
import { revokeTokenOfAnyone } from "#domain/accounts/tokens";
import { factory } from "#admin-api/factory";

const idRule = "A token's id is a number, as tokens list shows it.";
const TokenId = z
  .string()
  .regex(/^[1-9]\d{0,14}$/, idRule)
  .transform(Number);

export const tokens = factory.createApp().delete("/:id", async (c) => {
  const id = TokenId.parse(c.req.param("id"));
  await revokeTokenOfAnyone(c.env, c.var.db, id);
  return c.json({ revoked: id });
});
