import { z } from "zod";
import { createAccount, renewApiKey, showApiKey } from "#domain/accounts/account";
import { Refusal } from "#domain/refusal";
import { findAccount, listAccounts } from "#storage/accounts";
import type { Database } from "#storage/db";
import { factory } from "#admin-api/factory";

const AccountRequest = z.object({
  // The name travels in Basic credentials and in paths.
  username: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, "letters, digits, dots, dashes; at most 64"),
  email: z.string().regex(/^\S+@\S+$/, "an email address"),
  displayName: z.string().min(1).max(100).optional(),
  apiKey: z
    .string()
    .min(12)
    .max(100)
    .regex(/^[\x21-\x7e]+$/)
    .optional(),
  password: z.string().min(8).max(200).optional(),
});

export const accounts = factory
  .createApp()
  .get("/", async (c) => {
    const all = await listAccounts(c.var.db);
    return c.json({
      accounts: all.map(({ username, email, displayName, createdAt }) => ({ username, email, displayName, createdAt })),
    });
  })
  .post("/", async (c) => {
    const request = AccountRequest.parse(await c.req.json());
    const { account, apiKey, password } = await createAccount(c.var.db, c.env, request);
    return c.json({ username: account.username, apiKey, password });
  })
  .get("/:name/api-key", async (c) => {
    const account = await getAccount(c.var.db, c.req.param("name"));
    return c.json({ apiKey: await showApiKey(c.env, account) });
  })
  .post("/:name/rekey", async (c) => {
    const account = await getAccount(c.var.db, c.req.param("name"));
    return c.json({ apiKey: await renewApiKey(c.var.db, c.env, account) });
  });

async function getAccount(db: Database, name: string) {
  const account = await findAccount(db, name);
  if (!account) throw new Refusal("invalid_username", { message: `There is no account ${name}.` });
  return account;
}
