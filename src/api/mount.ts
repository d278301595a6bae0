import { spending } from "#domain/accounts/rates";
import type { MiddlewareHandler } from "hono";
import type { Call, CallGroup } from "#api/call";
import { factory, type ApiEnv } from "#api/factory";
import { nothingHere } from "#http/respond";
import type { ApiVersion } from "#api/versions";

/**
 * The routes of calls, each after its guards. A call that only another version of the API has does not exist in this
 * version. A call with a rate is counted before it does anything.
 */
export function mounted(
  { operations }: Pick<CallGroup, "operations">,
  { name }: ApiVersion,
  guardsOf: (call: Call) => readonly MiddlewareHandler<ApiEnv>[],
) {
  const app = factory.createApp();
  for (const call of operations) {
    const { method, path, versions, rate, handle } = call;
    app.on(method, [path.replace(/\{(\w+)\}/g, ":$1")], ...guardsOf(call), async (c) => {
      if (!versions.includes(name)) return nothingHere(c);
      if (!rate) return await handle(c);
      return await spending({ env: c.env, db: c.var.db }, { accountId: c.var.account.id, what: rate }, () => handle(c));
    });
  }
  return app;
}
