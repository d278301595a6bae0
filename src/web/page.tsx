import type { Context } from "hono";
import type { HtmlEscapedString } from "hono/utils/html";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { raw } from "hono/html";
import { readOnlyMessage } from "#domain/service-settings";
import { masked } from "#domain/secrets";
import { assetsOf } from "./assets.ts";
import type { WebEnv } from "./factory.ts";
import { islandNames } from "./island-names.ts";
import type { ownStyles } from "./own-styles.ts";
import { Document, wholeTitle } from "./parts/document.tsx";
import { Formed } from "./parts/form.tsx";
import { Frame, type Section } from "./parts/frame.tsx";
import { setPageHeaders } from "./page-headers.ts";
import { readOnlyOf } from "./read-only.ts";
import { takeResult } from "./result.ts";
import { personOf } from "./session.ts";
import { spriteFor } from "./sprite.ts";
import { themeOf } from "./theme.ts";

/** The content of a page, as JSX returns it. */
export type Content = HtmlEscapedString | Promise<HtmlEscapedString>;

export interface PageOptions {
  title: string;
  status?: ContentfulStatusCode;
  /** The link of the top bar that is marked as current. */
  section?: Section;
  /** Set while something runs: without scripts, the browser reloads the page after this many seconds. */
  refreshSeconds?: number | undefined;
  /** The ids of the elements that are fetched again every five seconds, separated by spaces. This needs scripts. */
  refreshIds?: string;
  /** The names of script assets, in addition to the page's islands. */
  scripts?: readonly string[];
  /** The style sheet of the page, in addition to that of the site. */
  style?: (typeof ownStyles)[number];
  /** The CSS class of the body. */
  look?: string;
  /** Shows results of forms at the lower edge of the window, where they move nothing while people work on the page. */
  hasToast?: boolean;
  /** Whether the page has only its content, without top bar and footer. */
  isBare?: boolean;
}

/** Answers with a whole HTML document. A form that was refused is shown again, with status 422. */
export async function page(c: Context<WebEnv>, content: Content, options: PageOptions): Promise<Response> {
  const { title, isBare = false, hasToast = false, look, refreshSeconds, status = c.var.given ? 422 : 200 } = options;
  const [assets, person, announcement] = await Promise.all([assetsOf(c.env.ASSETS), personOf(c), announcementOf(c)]);
  const frame = {
    announcement,
    person,
    theme: themeOf(c),
    result: takeResult(c),
    hasToast,
    section: options.section,
    to: currentUrl(c),
  };
  const body = await rendered(
    <Formed formToken={person && masked(person.formToken)} given={c.var.given}>
      {isBare ? content : <Frame {...frame}>{content}</Frame>}
      {options.refreshIds !== undefined && (
        <Again ids={refreshSeconds === undefined ? undefined : options.refreshIds} />
      )}
    </Formed>,
  );
  setPageHeaders(c);
  const scripts = [...(options.scripts ?? []), ...islandsIn(body)].map(assets.url);
  const styles = ["site.css", ...(options.style === undefined ? [] : [options.style])].map(assets.url);
  const document = (
    <Document title={title} look={look} refreshSeconds={refreshSeconds} assets={{ ...assets, scripts, styles }}>
      {raw(body + spriteFor(body, assets.icons))}
    </Document>
  );
  return await c.html(`<!DOCTYPE html>${await rendered(document)}`, status);
}

/** Some elements of a page, and its title: the client replaces those with the same ids (`showParts`). */
export async function partsOfPage(c: Context<WebEnv>, content: Content, title: string): Promise<string> {
  const [assets, person] = await Promise.all([assetsOf(c.env.ASSETS), personOf(c)]);
  const body = await rendered(
    <Formed formToken={person && masked(person.formToken)} given={undefined}>
      {content}
    </Formed>,
  );
  const parts = (
    <html>
      <head>
        <title>{wholeTitle(title)}</title>
      </head>
      <body>{raw(body + spriteFor(body, assets.icons))}</body>
    </html>
  );
  return await rendered(parts);
}

/**
 * While the service is read-only, each page shows that. If the database does not answer, the page itself explains that.
 */
async function announcementOf(c: Context<WebEnv>): Promise<string | undefined> {
  const mode = await readOnlyOf(c).catch(() => undefined);
  return mode?.on ? (mode.message ?? readOnlyMessage) : undefined;
}

/** Makes the island `again` fetch the elements again while something runs. */
const Again = ({ ids }: { ids: string | undefined }) => (
  <div id="again-place" hidden>
    {ids !== undefined && <div data-again="5" data-ids={ids} />}
  </div>
);

const rendered = async (content: Content): Promise<string> => String(await (await content).toString());

const currentUrl = (c: Context): string => {
  const { pathname, search } = new URL(c.req.url);
  return pathname + search;
};

/**
 * The scripts of the islands whose elements are in a page. Users' text cannot match, because its quotes are escaped.
 */
const islandsIn = (html: string): string[] =>
  islandNames.filter((name) => html.includes(` data-${name}="`)).map((name) => `${name}.js`);
