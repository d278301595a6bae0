import type { Context } from "hono";

/**
 * Completes the work even if its client disconnects, because the solver must not be interrupted while it loads
 * packages.
 */
export async function runToCompletion<T>(c: Pick<Context, "executionCtx">, work: Promise<T>): Promise<T> {
  c.executionCtx.waitUntil(work.catch(() => {}));
  return await work;
}
