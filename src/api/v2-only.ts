import { factory } from "#api/factory";
import { nothingHere } from "#api/respond";

/** For calls that came with version 2: in version 1 there is nothing at their address. */
export const v2Only = factory.createMiddleware(async (c, next) => {
  if (c.var.version.name === "v2") return await next();
  return nothingHere(c);
});
