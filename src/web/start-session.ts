import type { Context } from "hono";
import { audited } from "#domain/accounts/audit";
import { startSession } from "#domain/accounts/sessions";
import { clientAddress } from "#http/client-address";
import type { Account } from "#storage/accounts";
import type { WebEnv } from "./factory.ts";
import { giveSession, sessionSecret } from "./session.ts";

/** Signs this browser in with a session of its own; the one that it had before ends. */
export async function signInBrowser(c: Context<WebEnv>, account: Account): Promise<void> {
  const address = clientAddress(c.req.raw, c.env);
  const acting = audited(c.var.db, { event: "session.started", actor: "page", accountId: account.id, address });
  const browser = { userAgent: c.req.header("user-agent"), address, before: sessionSecret(c) };
  giveSession(c, await startSession({ env: c.env, db: acting }, account, browser));
}
