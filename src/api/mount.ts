import type { CallGroup } from "#api/call";
import { factory } from "#api/factory";
import { nothingHere } from "#api/respond";
import type { ApiVersion } from "#api/versions";

/** The routes of calls. A call that another version of the API has is nothing in this one. */
export function mounted({ operations }: Pick<CallGroup, "operations">, { name }: ApiVersion) {
  const app = factory.createApp();
  for (const { method, path, versions, handle } of operations) {
    const route = path.replace(/\{(\w+)\}/g, ":$1");
    app.on(method, route, (c) => (versions.includes(name) ? handle(c) : nothingHere(c)));
  }
  return app;
}
