import type { Call } from "#api/call";
import { refuseBeyondToken } from "#api/access";
import { authenticate } from "#api/authenticate";
import { factory } from "#api/factory";
import { listAppliances } from "#api/appliances";
import { versionless } from "#api/gallery/index";
import { idempotent } from "#api/idempotency";
import { refuseChangesInReadOnlyMode } from "#api/read-only";
import { mounted } from "#api/mount";
import { tus } from "#api/tus";
import { v1, v2, type ApiVersion } from "#api/versions";
import { groups } from "#api/groups";

/** Door 1: every group of calls is mounted once per version, from the same handlers. */
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

/** Before a call: what its token may do is decided first, also before an answer is repeated. */
function guardsOf(call: Call) {
  return [refuseBeyondToken(call), refuseChangesInReadOnlyMode, idempotent];
}
