import type { Context } from "hono";
import type { ShownError } from "#api/errors";
import type { WebEnv } from "./factory.ts";
import { isForPrograms } from "./page-headers.ts";
import { page } from "./page.tsx";
import { Search } from "./parts/search.tsx";

/** Whether a browser opens the address. Browsers get errors as pages. */
export const wantsPage = (c: Context): boolean =>
  (c.req.header("accept")?.includes("text/html") ?? false) && !isForPrograms(c.req.path);

const titles: Partial<Record<number, string>> = {
  403: "You may not do this",
  404: "There is nothing here",
  405: "This address cannot do that",
  410: "This no longer exists",
  413: "This is too large",
  429: "Too many requests",
  500: "Something went wrong in the service",
};

/** An error as a page: what is wrong, and links to other pages. */
export async function errorPage(
  c: Context<WebEnv>,
  { status, message }: Pick<ShownError, "status" | "message">,
): Promise<Response> {
  // The refused form may be the cause of the error, so the error page must not show it.
  c.set("given", undefined);
  const title = titles[status] ?? "This is not possible";
  return await page(c, <ErrorView title={title} message={message} />, { title, status });
}

/** The page for an unknown address. It does not reveal whether other users would find something there. */
export const notFoundPage = (c: Context<WebEnv>): Promise<Response> =>
  errorPage(c, {
    status: 404,
    message: "The address is wrong, or the page was deleted, or it belongs to someone who has not shared it with you.",
  });

const ErrorView = ({ title, message }: { title: string; message: string }) => (
  <div class="wrap content">
    <div class="center-page">
      <span class="niche cold big" aria-hidden="true"></span>
      <h1>{title}</h1>
      <p class="quiet narrow-words">{message}</p>
      <Search
        action="/gallery"
        label="Search the gallery"
        placeholder="Search the gallery"
        button="Search"
        look="narrow-search"
      />
      <p class="row center">
        <a href="/">Gallery</a>
        <a href="/appliances">My appliances</a>
      </p>
    </div>
  </div>
);
