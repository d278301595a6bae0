import { raw } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";
import type { Content } from "../../page.tsx";

/** HTML of a thing that is the same for every reader: written once in the life of an isolate. Of all calls it takes most of the time of the page. */
export function memoizedHtml<T extends object>(write: (thing: T) => Content): (thing: T) => HtmlEscapedString {
  const known = new WeakMap<T, HtmlEscapedString>();
  return (thing) => {
    const html = known.get(thing) ?? raw(String(write(thing)));
    known.set(thing, html);
    return html;
  };
}
