import { refuseInReadOnlyMode } from "#domain/service-settings";
import { factory } from "#api/factory";
import { readingMethods } from "#api/same-origin";

/** Refuses every call that changes something while the service is in read-only mode; a request that only reads is not checked. */
export const refuseChangesInReadOnlyMode = factory.createMiddleware(async (c, next) => {
  if (!readingMethods.has(c.req.method)) await refuseInReadOnlyMode({ env: c.env, db: c.var.db });
  await next();
});
