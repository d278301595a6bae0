import type { Context } from "hono";

/** Lets work go on after its client has left: the solver must not be given up while packages are loaded. */
export async function toItsEnd<T>(c: Pick<Context, "executionCtx">, work: Promise<T>): Promise<T> {
  c.executionCtx.waitUntil(work.catch(() => {}));
  return await work;
}
