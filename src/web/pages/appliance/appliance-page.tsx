import type { Context } from "hono";
import { rowsOf } from "#domain/appliances/examined-rows";
import { lookAt, type Look } from "#domain/appliances/look";
import type { WebEnv } from "../../factory.ts";
import { page, type Content, type PageOptions } from "../../page.tsx";
import { readOnlyOf } from "../../read-only.ts";
import { readResult } from "../../result.ts";
import { Head } from "./head.tsx";
import { Problems } from "./problems.tsx";
import type { Tab } from "./tabs.tsx";

interface AppliancePage extends Omit<PageOptions, "title" | "section"> {
  tab: Tab;
  /** The title of the page; the name of the appliance is added. */
  title: string;
  /** The state of the appliance, if the page has it already. */
  seen?: Look | undefined;
}

/** A page of an appliance: the head, the problems, and the content. */
export async function appliancePage(
  c: Context<WebEnv>,
  content: Content,
  { tab, title, seen: known, ...options }: AppliancePage,
): Promise<Response> {
  const seen = known ?? (await lookAtAppliance(c));
  const { appliance } = seen;
  const isOwn = appliance.accountId === c.var.account.id;
  return await page(
    c,
    <>
      <Head look={seen} tab={tab} isOwn={isOwn} change={readResult(c)?.change} />
      <Problems look={seen} tab={tab} />
      {content}
    </>,
    { ...options, title: `${title} · ${appliance.name}`, section: "appliances" },
  );
}

/** The data for the head of the appliance's pages. */
export async function lookAtAppliance(c: Context<WebEnv>): Promise<Look> {
  const { db, appliance, account, baseUrl } = c.var;
  const isOwn = appliance.accountId === account.id;
  // Templates and shared appliances can only be viewed and cloned.
  if (!isOwn) {
    const rows = await rowsOf(db, appliance);
    const unknown = { rows, lastBuild: undefined, packages: null, base: undefined };
    return { ...unknown, appliance, running: [], images: [], issues: [] };
  }
  return await lookAt({ env: c.env, db }, { appliance, accountId: account.id, baseUrl, readOnly: readOnlyOf(c) });
}
