import { shown } from "#api/errors";
import { answerError } from "#http/respond";
import { compressed } from "#http/compressed";
import { causeOf } from "#http/request-body";
import { logFailure } from "#log/log";
import { assetsOf } from "./assets.ts";
import { errorPage, notFoundPage, wantsPage } from "./error-page.tsx";
import { factory } from "./factory.ts";
import { accountPages } from "./pages/account/account.tsx";
import { agreementPage } from "./pages/account/agreement.tsx";
import { apiKey } from "./pages/account/api-key.tsx";
import { auditLogPage } from "./pages/account/audit-log.tsx";
import { sessionsPage } from "./pages/account/sessions.tsx";
import { signInPage } from "./pages/account/sign-in.tsx";
import { sshKeyForms } from "./pages/account/ssh-keys.tsx";
import { storagePage } from "./pages/account/storage.tsx";
import { tokenForms } from "./pages/account/tokens.tsx";
import { webhookPages } from "./pages/account/webhooks.tsx";
import { appliancePictures } from "./pages/appliance/pictures.ts";
import { buildPage } from "./pages/appliance/builds/build.tsx";
import { configurationPage } from "./pages/appliance/configuration/configuration.tsx";
import { differencePage } from "./pages/appliance/difference.tsx";
import { filesPage } from "./pages/appliance/files/files.tsx";
import { sharePage } from "./pages/appliance/share/share.tsx";
import { softwarePage } from "./pages/appliance/software/software.tsx";
import { inheritedActs } from "./pages/appliance/inherited-acts.tsx";
import { overviewPage } from "./pages/appliance/overview.tsx";
import { appliancesActs } from "./pages/appliances/acts.ts";
import { chosenActs } from "./pages/appliances/chosen-acts.ts";
import { appliancesPage } from "./pages/appliances/list.tsx";
import { imagesWithPage } from "./pages/appliances/images-with.tsx";
import { newAppliancePage } from "./pages/appliances/new.tsx";
import { apiDocs } from "./pages/docs/api-docs.tsx";
import { llms } from "./pages/docs/llms.ts";
import { galleryActs } from "./pages/gallery/acts.ts";
import { publishedPage } from "./pages/gallery/appliance.tsx";
import { galleryDifference } from "./pages/gallery/difference.tsx";
import { galleryPages } from "./pages/gallery/list.tsx";
import { serviceAccounts } from "./pages/service/accounts.tsx";
import { serviceOverview } from "./pages/service/service.tsx";
import { helpPage } from "./pages/help.tsx";
import { statusPage } from "./pages/status.tsx";
import { startTestdrivePage } from "./pages/testdrive/start.ts";
import { testdrivePage } from "./pages/testdrive/testdrive.tsx";
import { noStore } from "./page-headers.ts";
import { preferences } from "./theme.ts";

export { errorPage, notFoundPage, wantsPage };

/** The web pages. */
export const web = factory
  .createApp()
  .use(noStore, compressed)
  .route("/", galleryPages)
  .route("/", publishedPage)
  .route("/", galleryActs)
  .route("/", galleryDifference)
  .route("/", apiDocs)
  .route("/", llms)
  .route("/", apiKey)
  .route("/", agreementPage)
  .route("/", signInPage)
  .route("/", statusPage)
  .route("/", helpPage)
  .route("/", sessionsPage)
  .route("/", accountPages)
  .route("/", tokenForms)
  .route("/", sshKeyForms)
  .route("/", webhookPages)
  .route("/", storagePage)
  .route("/", auditLogPage)
  .route("/", testdrivePage)
  .route("/", startTestdrivePage)
  .route("/", appliancesPage)
  .route("/", imagesWithPage)
  .route("/", newAppliancePage)
  .route("/", appliancesActs)
  .route("/", chosenActs)
  .route("/", overviewPage)
  .route("/", inheritedActs)
  .route("/", buildPage)
  .route("/", configurationPage)
  .route("/", differencePage)
  .route("/", filesPage)
  .route("/", sharePage)
  .route("/", softwarePage)
  .route("/", appliancePictures)
  .route("/", serviceOverview)
  .route("/", serviceAccounts)
  .route("/", preferences)
  // Browsers request this name regardless of the page.
  .get("/favicon.ico", async (c) => c.redirect((await assetsOf(c.env.ASSETS)).url("kiln.svg")))
  // Only the embedded service sends these requests here (wrangler.toml, run_worker_first), to be compressed.
  .get("/assets/*", async (c) => {
    // HEAD, too: its answer has the length of GET's.
    const { headers } = c.req.raw;
    const found = await c.env.ASSETS.fetch(new Request(c.req.url, { headers }));
    return found.status === 404 ? c.notFound() : found;
  });

/** A browser gets a page. A program gets the same document as from the API. */
web.onError(async (thrown, c) => {
  const error = causeOf(c, thrown);
  const { status, code, message, headers } = shown(error);
  c.set("refused", code);
  for (const [name, value] of Object.entries(headers)) c.header(name, value);
  if (status >= 500) logFailure("a request failed", error);
  if (!wantsPage(c)) return answerError(c, { code, message }, status);
  return await errorPage(c, { status, message });
});
