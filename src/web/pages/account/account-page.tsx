import type { Context } from "hono";
import type { WebEnv } from "../../factory.ts";
import { page } from "../../page.tsx";
import { Content } from "../../parts/column.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import type { Child } from "hono/jsx";

const tabs = [
  { path: "/account", words: "Keys" },
  { path: "/account/sessions", words: "Browsers" },
  { path: "/account/webhooks", words: "Webhooks" },
  { path: "/account/storage", words: "Storage" },
  { path: "/account/audit_log", words: "History" },
] as const;

interface AccountPageOptions {
  title: string;
  tab: (typeof tabs)[number]["path"];
}

/** A page about the account itself, with links to the others. */
export const accountPage = (
  c: Context<WebEnv>,
  content: Child,
  { title, tab }: AccountPageOptions,
): Response | Promise<Response> =>
  page(
    c,
    <Content look="account stack">
      <h1>{title}</h1>
      <Tabs label="Account" tabs={tabs} current={tab} />
      {content}
    </Content>,
    { title, section: "account" },
  );
