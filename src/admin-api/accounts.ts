import type { Context } from "hono";
import { z } from "zod";
import { createAccount, renewApiKey, setOperator, setPassword, showApiKey } from "#domain/accounts/account";
import { audited } from "#domain/accounts/audit";
import { lockAccount, unlockAccount } from "#domain/accounts/lock";
import { quotaGbOf, setQuota } from "#domain/accounts/quota";
import { removeAccount } from "#domain/accounts/removal";
import { revokeSession } from "#domain/accounts/sessions";
import { newPassword } from "#domain/secrets";
import { Refusal } from "#domain/refusal";
import { AccountRequest, PasswordRequest, QuotaRequest } from "#model/account-request";
import type { AuditDetail, AuditEvent } from "#model/audit-events";
import { findAccount, listAccounts } from "#storage/accounts";
import { deleteSessions, listSessions } from "#storage/sessions";
import { listTokens } from "#storage/tokens";
import type { Database } from "#storage/db";
import { factory, type AdminEnv } from "#admin-api/factory";
import { revokeTokenOfAnyone } from "#domain/accounts/tokens";

const LockRequest = z.object({ locked: z.boolean() });
const OperatorRequest = z.object({ operator: z.boolean() });

export const accounts = factory
  .createApp()
  .get("/", async (c) => {
    const all = await listAccounts(c.var.db);
    return c.json({
      accounts: all.map(({ username, email, displayName, createdAt, lockedAt, quotaGb, isOperator }) => ({
        username,
        email,
        displayName,
        createdAt,
        lockedAt,
        isOperator,
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
  .put("/:name/operator", async (c) => {
    const { operator } = OperatorRequest.parse(await c.req.json());
    const account = await getAccount(c.var.db, c.req.param("name"));
    const event = operator ? "operator.added" : "operator.removed";
    await setOperator(acting(c, account, event), account, operator ? "operator" : "user");
    return c.json({ operator });
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

/** The database for an action of the operator, which the audit log records. A new account has no id yet. */
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
