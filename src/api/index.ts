import type { MiddlewareHandler } from "hono";
import type { Call, CallGroup } from "#api/call";
import { refuseBeyondToken } from "#api/access";
import { authenticate } from "#api/authenticate";
import { factory, type ApiEnv } from "#api/factory";
import { listAppliances } from "#api/appliances";
import { versionless } from "#api/gallery/index";
import { idempotent } from "#api/idempotency";
import { scopeOf } from "#api/operation";
import { readingMethods } from "#api/same-origin";
import { tus } from "#api/tus";
import { v1, v2, type ApiVersion } from "#api/versions";
import { groups } from "#api/groups";
import { spending } from "#domain/accounts/rates";
import { refuseInReadOnlyMode } from "#domain/service-settings";
import { nothingHere } from "#http/respond";

/** In read-only mode, refuses every call that changes something. A request that only reads is not checked. */
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

/**
 * The routes of calls, each after its guards. A call that only another version of the API has does not exist in this
 * version. A call with a rate limit is counted before it does anything.
 */
function mounted(
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

/** The checks before a call. The token's rights are checked first, even before a stored answer is repeated. */
function guardsOf(call: Call) {
  const guards = [refuseBeyondToken(call), refuseChangesInReadOnlyMode];
  // A call that only reads may happen twice.
  return scopeOf(call) === "read" ? guards : [...guards, idempotent];
}
