import { createMiddleware } from "hono/factory";
import { z } from "zod";
import { note } from "#domain/accounts/audit";
import { Refusal } from "#domain/refusal";
import { findAccount } from "#storage/accounts";
import { listAuditLog } from "#storage/audit-log";
import { factory, type AdminEnv } from "#admin-api/factory";

const maxShown = 500;
const beforeRule = "before must be the id of an entry.";
const AuditRequest = z.object({
  account: z.string().optional(),
  before: z
    .string()
    .regex(/^\d{1,15}$/, beforeRule)
    .transform(Number)
    .optional(),
});

export const audit = factory.createApp().get("/", async (c) => {
  const { account: name, before } = AuditRequest.parse(c.req.query());
  const account = name === undefined ? undefined : await findAccount(c.var.db, name);
  if (name !== undefined && !account) {
    throw new Refusal("invalid_username", { message: `There is no account ${name}.` });
  }
  const entries = await listAuditLog(c.var.db, { accountId: account?.id, before, limit: maxShown });
  return c.json({ entries: entries.map(({ minute: _minute, ...shown }) => shown) });
});

/** Records every call that changes something, and each call that shows an API key. */
export const audited = createMiddleware<AdminEnv>(async (c, next) => {
  await next();
  const path = c.req.path.replace(/^\/admin/, "");
  const isRead = c.req.method === "GET" && !path.endsWith("/api-key");
  if (isRead || !c.res.ok) return;
  // An operator may upload hundreds of files in a row.
  const call = `${c.req.method} ${path.replace(/^(\/repositories)\/.*/, "$1")}`;
  await note(c.var.db, { event: "operator.called", actor: "operator", detail: { call } });
});
