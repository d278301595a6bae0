import { parseHTML } from "linkedom";

/** The part of a parsed document that tests use. The types of the DOM are not available in the Worker. */
export interface Element {
  id: string;
  textContent: string | null;
  getAttribute: (name: string) => string | null;
  hasAttribute: (name: string) => boolean;
  querySelector: (selector: string) => Element | null;
  querySelectorAll: (selector: string) => Iterable<Element> & { length: number };
}

export type Page = Element & { title: string };

/** A page as a browser would see it. */
export const pageOf = async (answer: Response | Promise<Response>): Promise<Page> =>
  parseHtml(await (await answer).text());

export function parseHtml(html: string): Page {
  const { document }: { document: unknown } = parseHTML(html);
  return document as Page;
}

/** The visible text of an element, without the line breaks of the source. */
export const textOf = (where: Element, selector: string): string =>
  (where.querySelector(selector)?.textContent ?? "").replaceAll(/\s+/g, " ").trim();

/** The hidden fields of a form, except the token, which each test adds. */
export const hiddenFields = (form: Element | null): Record<string, string> =>
  Object.fromEntries(
    [...(form?.querySelectorAll("input[type=hidden]") ?? [])]
      .map((one) => [one.getAttribute("name") ?? "", one.getAttribute("value") ?? ""] as const)
      .filter(([name]) => name !== "form_token"),
  );
