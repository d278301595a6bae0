import { baseUrlOf } from "#domain/base-url";
import { Hono } from "hono";
import { api } from "#api/index";
import { shown } from "#api/errors";
import { answerError, nothingHere } from "#http/respond";
import { refuseForeignOrigins } from "#api/same-origin";
import { allowedMethods } from "#api/allowed-methods";
import { adminApi } from "#admin-api/index";
import { agentApi } from "#agent-api/index";
import { queueGateway } from "#agent-api/queue";
import { isOfFullDisk } from "#domain/full-disk";
import { Refusal } from "#domain/refusal";
import { headLength } from "#http/head-length";
import { causeOf, refuseEncoded, requestBody } from "#http/request-body";
import { safeAnswer } from "#http/safe-answer";
import { logEvent, logFailure } from "#log/log";
import { openDatabase } from "#storage/db";
import { refuseCrowds, watched } from "./requests.ts";
import { attestationKeys } from "#web/attestation-keys";
import { channelAddresses } from "#web/channel-addresses";
import { download } from "#web/download";
import { separateGuestOrigin } from "#web/guest-origin";
import { guestWeb } from "#web/guest-web";
import type { WebEnv } from "#web/factory";
import { errorPage, notFoundPage, wantsPage, web } from "#web/index";
import { machineRepositories } from "#web/machine-repositories";
import { publicLog } from "#web/public-log";
import { publishedInputs } from "#web/published-inputs";
import { repositoryFiles } from "#web/repository-files";
import { schematicAddresses } from "#web/schematic-addresses";
import { schemas } from "#web/schemas";

/** The root app: the middleware for every request, the routes, and the one place that turns errors into answers. */
// strict: false, because some clients end every path with a slash.
export const app = new Hono<WebEnv>({ strict: false });

app.use(watched, safeAnswer, headLength, requestBody);
app.use(async (c, next) => {
  c.set("db", openDatabase(c.env));
  c.set("baseUrl", c.env.BASE_URL === "" ? new URL(c.req.url).origin : baseUrlOf(c.env));
  await next();
});
app.use(refuseCrowds, separateGuestOrigin);
// Comes before the next rule, because a guest's page has an opaque origin and the guest must check its own forms.
app.route("/testdrives", guestWeb);
app.use(refuseForeignOrigins, refuseEncoded);

app.route("/api", api);
app.route("/admin", adminApi);
app.route("/agent", agentApi);
app.route("/client/v4", queueGateway);
app.route("/.well-known", attestationKeys);
app.route("/download", download);
app.route("/log", publicLog);
app.route("/image", schematicAddresses);
app.route("/image", channelAddresses);
app.route("/machines", machineRepositories);
app.route("/published", publishedInputs);
app.route("/repositories", repositoryFiles);
app.route("/schema", schemas);
app.route("/", web);

app.notFound((c) => {
  const allowed = allowedMethods(app.routes, c.req.path);
  if (allowed.length === 0) return wantsPage(c) ? notFoundPage(c) : nothingHere(c);
  c.header("Allow", allowed.join(", "));
  throw new Refusal("wrong_http_method", { message: `Use ${allowed.join(" or ")} here.` });
});

app.onError(async (thrown, c) => {
  const error = causeOf(c, thrown);
  const { status, code, message, headers } = shown(error, c.var.version);
  c.set("refused", code);
  if (isOfFullDisk(error)) logEvent("a request failed: the disk is full");
  else if (status >= 500) logFailure("a request failed", error);
  for (const [name, value] of Object.entries(headers)) c.header(name, value);
  return wantsPage(c) ? await errorPage(c, { status, message }) : answerError(c, { code, message }, status);
});
