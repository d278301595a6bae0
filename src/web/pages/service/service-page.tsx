import type { Context } from "hono";
import type { Child } from "hono/jsx";
import { notFoundPage } from "../../error-page.tsx";
import { factory, type WebEnv } from "../../factory.ts";
import { page } from "../../page.tsx";
import { Content } from "../../parts/column.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { withSession } from "../../session.ts";

export const servicePath = "/service";
export const accountsPath = "/service/accounts";

/** Guards a page for operators. Other accounts do not learn that the page exists. */
export const withOperator = [
  withSession,
  factory.createMiddleware(async (c, next) => (c.var.account.isOperator ? await next() : await notFoundPage(c))),
] as const;

const tabs = [
  { path: servicePath, words: "Overview" },
  { path: accountsPath, words: "Accounts" },
] as const;

interface ServicePageOptions {
  title: string;
  tab: (typeof tabs)[number]["path"];
  /** Shown next to the title. */
  state?: Child;
}

/** A page for operators. */
export const servicePage = (
  c: Context<WebEnv>,
  content: Child,
  { title, tab, state }: ServicePageOptions,
): Response | Promise<Response> =>
  page(
    c,
    <Content look="stack">
      <div class="row spread">
        <h1>{title}</h1>
        {state}
      </div>
      <Tabs label="Service" tabs={tabs} current={tab} />
      {content}
    </Content>,
    { title, section: "service" },
  );
