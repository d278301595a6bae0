import type { Context } from "hono";
import { z } from "zod";
import { createAccount, passwordLength, renewApiKey, setPassword, showApiKey } from "#domain/accounts/account";
import { audited } from "#domain/accounts/audit";
import { lockAccount, unlockAccount } from "#domain/accounts/lock";
import { quotaGbOf, setQuota } from "#domain/accounts/quota";
import { removeAccount } from "#domain/accounts/removal";
import { revokeSession } from "#domain/accounts/sessions";
import { newPassword } from "#domain/secrets";
import { Refusal } from "#domain/refusal";
import type { AuditDetail, AuditEvent } from "#model/audit-events";
import { findAccount, listAccounts } from "#storage/accounts";
import { deleteSessions, listSessions } from "#storage/sessions";
import { listTokens } from "#storage/tokens";
import type { Database } from "#storage/db";
import { factory, type AdminEnv } from "#admin-api/factory";

const nameRule =
  "An account name has 1 to 64 letters, digits, dots, dashes and underscores, and starts with a letter or a digit.";
const emailRule = "Give an email address, such as ada@example.org.";
const displayNameRule = "A display name has 1 to 100 characters.";
const apiKeyRule = "An API key has 12 to 100 characters: ASCII letters, digits and punctuation, no spaces.";
const { min, max } = passwordLength;
const passwordRule = `A password has ${min} to ${max} characters.`;
const Password = z.string(passwordRule).min(min, passwordRule).max(max, passwordRule).optional();

const AccountRequest = z.object({
  // The name is used in Basic credentials and in paths.
  username: z.string(nameRule).regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, nameRule),
  email: z.string(emailRule).regex(/^\S+@\S+$/, emailRule),
  displayName: z.string(displayNameRule).min(1, displayNameRule).max(100, displayNameRule).optional(),
  apiKey: z
    .string(apiKeyRule)
    .regex(/^[\x21-\x7e]{12,100}$/, apiKeyRule)
    .optional(),
  password: Password,
});
const PasswordRequest = z.object({ password: Password });
const quotaRule = "A quota is a number of GB from 0 to 1000000, or null for the quota of all accounts.";
const QuotaRequest = z.object({ gb: z.number(quotaRule).min(0, quotaRule).max(1_000_000, quotaRule).nullable() });
const LockRequest = z.object({ locked: z.boolean() });

export const accounts = factory
  .createApp()
  .get("/", async (c) => {
    const all = await listAccounts(c.var.db);
    return c.json({
      accounts: all.map(({ username, email, displayName, createdAt, lockedAt, quotaGb }) => ({
        username,
        email,
        displayName,
        createdAt,
        lockedAt,
        ...shownQuota(c.env, quotaGb),
      })),
    });
  })
  .post("/", async (c) => {
    const request = AccountRequest.parse(await c.req.json());
    const { account, apiKey, password } = await createAccount(acting(c, request, "account.created"), c.env, request);
    return c.json({ username: account.username, apiKey, password });
  })
  .get("/:name/api-key", async (c) => {
    const account = await getAccount(c.var.db, c.req.param("name"));
    return c.json({ apiKey: await showApiKey(c.env, account) });
  })
  .post("/:name/rekey", async (c) => {
    const account = await getAccount(c.var.db, c.req.param("name"));
    const apiKey = await renewApiKey({ env: c.env, db: acting(c, account, "key.renewed") }, account);
    return c.json({ apiKey });
  })
  .delete("/:name", async (c) => {
    const account = await getAccount(c.var.db, c.req.param("name"));
    await removeAccount({ env: c.env, db: acting(c, account, "account.removed") }, account);
    return c.json({ removed: account.username });
  })
  .put("/:name/password", async (c) => {
    const { password = newPassword(16) } = PasswordRequest.parse(await c.req.json());
    const account = await getAccount(c.var.db, c.req.param("name"));
    await setPassword(acting(c, account, "password.changed"), account, password);
    return c.json({ password });
  })
  .get("/:name/quota", async (c) => {
    const { quotaGb } = await getAccount(c.var.db, c.req.param("name"));
    return c.json(shownQuota(c.env, quotaGb));
  })
  .put("/:name/quota", async (c) => {
    const { gb } = QuotaRequest.parse(await c.req.json());
    const account = await getAccount(c.var.db, c.req.param("name"));
    await setQuota(acting(c, account, "quota.changed", { quota: gb === null ? "default" : `${gb}GB` }), account, gb);
    return c.json(shownQuota(c.env, gb));
  })
  .put("/:name/lock", async (c) => {
    const { locked } = LockRequest.parse(await c.req.json());
    const account = await getAccount(c.var.db, c.req.param("name"));
    if (locked) await lockAccount({ env: c.env, db: acting(c, account, "account.locked") }, account);
    else await unlockAccount(acting(c, account, "account.unlocked"), account);
    return c.json({ locked });
  })
  .get("/:name/sessions", async (c) => {
    const account = await getAccount(c.var.db, c.req.param("name"));
    const all = await listSessions(c.var.db, account.id, new Date());
    return c.json({ sessions: all.map(({ accountId: _account, secretHmac: _hmac, ...shown }) => shown) });
  })
  .delete("/:name/sessions", async (c) => {
    const account = await getAccount(c.var.db, c.req.param("name"));
    await deleteSessions(acting(c, account, "session.revoked"), account.id);
    return c.json({ revoked: "all" });
  })
  .delete("/:name/sessions/:id", async (c) => {
    const id = Number(c.req.param("id"));
    const account = await getAccount(c.var.db, c.req.param("name"));
    await revokeSession(acting(c, account, "session.revoked", { session_id: id }), account.id, id);
    return c.json({ revoked: id });
  })
  .get("/:name/tokens", async (c) => {
    const account = await getAccount(c.var.db, c.req.param("name"));
    const all = await listTokens(c.var.db, account.id);
    return c.json({ tokens: all.map(({ uid: _uid, accountId: _account, tokenHmac: _hmac, ...shown }) => shown) });
  });

const shownQuota = (env: Env, quotaGb: number | null) => ({
  quotaGb: quotaGbOf(env, { quotaGb }),
  hasOwnQuota: quotaGb !== null,
});

/** The database for an act of the operator. A new account has no id yet. */
const acting = (
  c: Context<AdminEnv>,
  { id: accountId, username }: { id?: number; username: string },
  event: AuditEvent,
  detail: AuditDetail = {},
): Database => audited(c.var.db, { event, actor: "operator", accountId, detail: { username, ...detail } });

async function getAccount(db: Database, name: string) {
  const account = await findAccount(db, name);
  if (!account) throw new Refusal("invalid_username", { message: `There is no account ${name}.` });
  return account;
}
