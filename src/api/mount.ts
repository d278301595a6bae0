import { spend } from "#domain/accounts/rates";
import type { CallGroup } from "#api/call";
import { factory } from "#api/factory";
import { nothingHere } from "#api/respond";
import type { ApiVersion } from "#api/versions";

/** The routes of calls. A call of another version of the API does not exist in this one. One with a rate counts before it does anything. */
export function mounted({ operations }: Pick<CallGroup, "operations">, { name }: ApiVersion) {
  const app = factory.createApp();
  for (const { method, path, versions, rate, handle } of operations) {
    app.on(method, path.replace(/\{(\w+)\}/g, ":$1"), async (c) => {
      if (!versions.includes(name)) return nothingHere(c);
      if (rate) await spend({ env: c.env, db: c.var.db }, c.var.account.id, rate);
      return await handle(c);
    });
  }
  return app;
}
