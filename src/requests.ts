import type { Context } from "hono";
import { createMiddleware } from "hono/factory";
import { matchedRoutes } from "hono/route";
import { requestIdHeader } from "#lib/contract/index";
import { networkOf } from "#domain/accounts/sign-in-throttle";
import { Crowd } from "#domain/operation/crowd";
import { countRefusal } from "#domain/operation/refusals";
import { clientAddress } from "#http/client-address";
import { logEvent } from "#log/log";
import { forRequest, requestIdOf } from "#log/request-id";
import { answering } from "#lib/loop/pace";
import type { WebEnv } from "#web/factory";

/** Gives each request an id for its log lines, and counts its error. Long work of others rests until the answer. */
export const watched = createMiddleware<WebEnv>(async (c, next) => {
  const begunAt = Date.now();
  await forRequest(requestIdOf(c.req.header(requestIdHeader)), async () => {
    await answering(next);
    const { status } = c.res;
    const code = c.var.refused;
    if (status >= 500 || Math.random() < Number(c.env.LOG_REQUESTS)) {
      logEvent("request", { method: c.req.method, path: shownPath(c), status, code, ms: Date.now() - begunAt });
    }
    if (status < 400) return;
    countRefusal({ env: c.env, waitUntil: (work) => waitUntil(c, work) }, { code: code ?? "other", status });
  });
});

const crowd = new Crowd();
/** The requests of agents and the operator, which must not wait and are few. */
const unlimited = /^\/(?:agent|client|admin)\//;

/** On one machine, refuses too many simultaneous requests from one address. Cloudflare starts more isolates. */
export const refuseCrowds = createMiddleware<WebEnv>(async (c, next) => {
  if (c.env.MODE !== "embedded" || unlimited.test(c.req.path)) return await next();
  return await crowd.join(networkOf(clientAddress(c.req.raw, c.env)), next);
});

/** The path with its ids, but with the names of all other parameters, because some URLs are secret. */
function shownPath(c: Context): string {
  // Middleware is also matched, with shorter patterns.
  const [route] = matchedRoutes(c).toSorted((one, other) => other.path.length - one.path.length);
  const given = c.req.path.split("/");
  return (route?.path ?? "*")
    .split("/")
    .map((part, nth) => (part.startsWith(":") && /^\d{1,15}$/.test(given[nth] ?? "") ? given[nth] : part))
    .join("/");
}

/** Continues work after the answer. A test's request may have no context that waits for it. */
function waitUntil(c: Context, work: Promise<void>): void {
  try {
    c.executionCtx.waitUntil(work);
  } catch {
    // hono throws if there is no context
  }
}
