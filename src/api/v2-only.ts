import { factory } from "#api/factory";
import { xml } from "#api/respond";

/** For calls that came with version 2: in version 1 there is nothing at their address. */
export const v2Only = factory.createMiddleware(async (c, next) => {
  if (c.var.version.name === "v2") return await next();
  return xml(c, "error", { code: "unknown_error", message: "There is nothing at this address." }, 404);
});
