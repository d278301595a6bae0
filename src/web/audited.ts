import type { Context } from "hono";
import { audited, type Audited } from "#domain/accounts/audit";
import { clientAddress } from "#http/client-address";
import type { Database } from "#storage/db";
import type { WebEnv } from "./factory.ts";

/**
 * The database for an action that belongs in the audit log. The change and its entry are stored together or not at all.
 */
export const auditedPage = (c: Context<WebEnv>, what: Pick<Audited, "event" | "detail">): Database =>
  audited(c.var.db, {
    ...what,
    accountId: c.var.account.id,
    actor: "page",
    address: clientAddress(c.req.raw, c.env),
  });

/** Records an operator's action on an account or the service. */
export const auditedOperation = (c: Context<WebEnv>, what: Pick<Audited, "event" | "detail" | "accountId">): Database =>
  audited(c.var.db, {
    ...what,
    detail: { ...what.detail, operator: c.var.account.username },
    actor: "operator",
    address: clientAddress(c.req.raw, c.env),
  });
