import { shown } from "#api/errors";
import { answerError } from "#api/respond";
import { causeOf } from "#http/request-body";
import { agreementPage } from "./agreement.tsx";
import { apiDocs } from "./api-docs.tsx";
import { apiKey } from "./api-key.tsx";
import { factory } from "./factory.ts";
import { front } from "./front.tsx";
import { page } from "./page.tsx";
import { ErrorPage } from "./layout.tsx";
import { pageHeaders } from "./page-headers.ts";
import { sessionsPage } from "./sessions-page.tsx";
import { signInPage } from "./sign-in-page.tsx";
import { testdrivePage } from "./testdrive.tsx";

/** Door 3: web pages. */
export const web = factory
  .createApp()
  .use("/", pageHeaders)
  .use("/api/docs", pageHeaders)
  .use("/user/show_api_key", pageHeaders)
  .use("/agreements/*", pageHeaders)
  .use("/sign_in", pageHeaders)
  .use("/sign_out", pageHeaders)
  .use("/account/*", pageHeaders)
  .use("/testdrive/*", pageHeaders)
  .route("/", front)
  .route("/", apiDocs)
  .route("/", apiKey)
  .route("/", agreementPage)
  .route("/", signInPage)
  .route("/", sessionsPage)
  .route("/", testdrivePage);

/** A browser gets a page, a program the same document as from the API. */
web.onError(async (thrown, c) => {
  const error = causeOf(c, thrown);
  const { status, code, message, headers } = shown(error);
  for (const [name, value] of Object.entries(headers)) c.header(name, value);
  if (status >= 500) console.error(c.req.method, c.req.routePath, error);
  if (!c.req.header("accept")?.includes("text/html")) return answerError(c, { code, message }, status);
  return await page(c, ErrorPage({ message }), { title: "Not possible", status });
});
