import type { Context } from "hono";
import type { HtmlEscapedString } from "hono/utils/html";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import { raw } from "hono/html";
import { assetUrls } from "./assets.ts";
import type { WebEnv } from "./factory.ts";
import { Layout } from "./layout.tsx";

/** What a page is made of; JSX evaluates to it. */
export type Content = HtmlEscapedString | Promise<HtmlEscapedString>;

interface Frame {
  title: string;
  status?: ContentfulStatusCode;
  /** An asset to run, and the class of its body. */
  script?: string;
  look?: string;
}

/** Answers a whole document. */
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
