import type { Context } from "hono";
import { z } from "zod";
import { listAcceptances } from "#domain/accounts/agreement";
import { note } from "#domain/accounts/audit";
import { Refusal } from "#domain/refusal";
import { sameSecret } from "#domain/secrets";
import { clientAddress } from "#http/client-address";
import { BodyFault, causeOf } from "#http/request-body";
import { accounts, tokens } from "#admin-api/accounts";
import { advisories } from "#admin-api/advisories";
import { agents } from "#admin-api/agents";
import { audit, audited } from "#admin-api/audit";
import { catalogues } from "#admin-api/catalogues";
import { factory, type AdminEnv } from "#admin-api/factory";
import { keys } from "#admin-api/keys";
import { operation } from "#admin-api/operation";
import { queue } from "#admin-api/queue";
import { repositoryFiles } from "#admin-api/repository-files";
import { switches } from "#admin-api/switches";
import { logFailure } from "#log/log";

/** JSON for the operator, protected by ADMIN_SECRET. scripts/admin.ts and the launcher are its clients. */
export const adminApi = factory
  .createApp()
  .use(async (c, next) => {
    const secret = /^bearer (\S+)$/i.exec(c.req.header("authorization") ?? "")?.[1] ?? "";
    if (!sameSecret(secret, c.env.ADMIN_SECRET)) {
      const address = clientAddress(c.req.raw, c.env);
      await note(c.var.db, { event: "sign_in.failed", actor: "operator", address });
      return refused(c, "access_denied", "The admin secret is wrong.", 401);
    }
    await next();
    return undefined;
  })
  .use(audited)
  .route("/", operation)
  .route("/", switches)
  // Which accounts accepted which legal agreement, and when.
  .get("/agreements", async (c) => c.json({ agreements: await listAcceptances(c.var.db) }))
  .route("/accounts", accounts)
  .route("/advisories", advisories)
  .route("/agents", agents)
  .route("/audit", audit)
  .route("/catalogues", catalogues)
  .route("/keys", keys)
  .route("/queue", queue)
  .route("/repositories", repositoryFiles)
  .route("/tokens", tokens);

adminApi.onError((thrown, c) => {
  const error = causeOf(c, thrown);
  if (error instanceof Refusal) return refused(c, error.code, error.message || error.code, 400);
  if (error instanceof BodyFault) return refused(c, "unknown_error", error.message, error.status);
  if (error instanceof z.ZodError) return refused(c, "invalid_value", problemsOf(error), 400);
  if (error instanceof SyntaxError) return refused(c, "invalid_value", "The body is not JSON.", 400);
  logFailure("a request failed", error);
  return refused(c, "internal_error", "Something went wrong inside the service.", 500);
});

function refused(c: Context<AdminEnv>, code: string, message: string, status: 400 | 401 | 408 | 500) {
  c.set("refused", code);
  return c.json({ error: { code, message } }, status);
}

const maxShown = 5;

/** The problems of a request, one per line. If a schema's message is not a sentence, its path in the request comes first. */
function problemsOf({ issues }: z.ZodError): string {
  const shown = issues.slice(0, maxShown).map(({ path, message }) => {
    const isSentence = /^[A-Z].*\.$/.test(message);
    return isSentence ? message : `${path.length === 0 ? "" : `${z.core.toDotPath(path)}: `}${message}.`;
  });
  const more = issues.length - shown.length;
  return [...shown, ...(more > 0 ? [`There are ${more} more problems.`] : [])].join("\n");
}
