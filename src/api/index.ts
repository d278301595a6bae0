import type { Call } from "#api/call";
import { refuseBeyondToken } from "#api/access";
import { authenticate } from "#api/authenticate";
import { factory } from "#api/factory";
import { listAppliances } from "#api/appliances";
import { versionless } from "#api/gallery/index";
import { idempotent } from "#api/idempotency";
import { scopeOf } from "#api/operation";
import { mounted } from "#api/mount";
import { readingMethods } from "#api/same-origin";
import { tus } from "#api/tus";
import { v1, v2, type ApiVersion } from "#api/versions";
import { groups } from "#api/groups";
import { refuseInReadOnlyMode } from "#domain/service-settings";

/** Refuses every call that changes something while the service is in read-only mode; a request that only reads is not checked. */
const refuseChangesInReadOnlyMode = factory.createMiddleware(async (c, next) => {
  if (!readingMethods.has(c.req.method)) await refuseInReadOnlyMode({ env: c.env, db: c.var.db });
  await next();
});

/** The API: every group of calls is mounted once per version, from the same handlers. */
export const api = factory.createApp().route("/v1/user", resources(v1)).route("/v2/user", resources(v2));

function resources(version: ApiVersion) {
  const app = factory
    .createApp()
    .use(async (c, next) => {
      c.set("version", version);
      await next();
    })
    .use("/uploads/*", tus)
    .route(
      "/",
      mounted({ operations: [listAppliances] }, version, () => []),
    ) // checks the credentials itself
    .use(authenticate)
    .route("/", versionless);
  for (const group of groups) app.route("/", mounted(group, version, guardsOf));
  return app;
}

/** The checks before a call. What its token may do is checked first, even before a stored answer is repeated. */
function guardsOf(call: Call) {
  const guards = [refuseBeyondToken(call), refuseChangesInReadOnlyMode];
  // A call that only reads may happen twice.
  return scopeOf(call) === "read" ? guards : [...guards, idempotent];
}
