import { createMiddleware } from "hono/factory";
import { countRefusal } from "#domain/operation/refusals";
import type { WebEnv } from "#web/factory";

/** Counts every answer that is an error, for the metrics. */
export const countErrors = createMiddleware<WebEnv>(async (c, next) => {
  await next();
  const { status } = c.res;
  if (status < 400) return;
  const { executionCtx } = c;
  const waitUntil = (work: Promise<void>) => executionCtx.waitUntil(work);
  countRefusal({ env: c.env, waitUntil }, { code: c.var.refused ?? "other", status });
});
