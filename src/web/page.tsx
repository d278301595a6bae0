import type { Context } from "hono";
import type { HtmlEscapedString } from "hono/utils/html";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { raw } from "hono/html";
import { assetUrls } from "./assets.ts";
import type { WebEnv } from "./factory.ts";
import { Layout } from "./layout.tsx";

/** The content of a page, as JSX returns it. */
export type Content = HtmlEscapedString | Promise<HtmlEscapedString>;

interface Frame {
  title: string;
  status?: ContentfulStatusCode;
  /** The name of a script asset. */
  script?: string;
  /** The CSS class of the body. */
  look?: string;
}

/** Answers with a whole HTML document. */
export async function page(c: Context<WebEnv>, content: Content, frame: Frame): Promise<Response> {
  const url = await assetUrls(c.env.ASSETS);
  const { title, status = 200, script, look = "reading" } = frame;
  const document = (
    <Layout title={title} style={url("site.css")} icon={url("kiln.svg")} script={script && url(script)} look={look}>
      {content}
    </Layout>
  );
  return await c.html(
    <>
      {raw("<!DOCTYPE html>")}
      {document}
    </>,
    status,
  );
}
