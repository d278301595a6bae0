import { raw } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";
import type { Content } from "../../page.tsx";

/**
 * Caches HTML that is the same for all readers, for the life of the isolate. Rendering all calls would take most of the
 * page's time.
 */
export function memoizedHtml<T extends object>(write: (thing: T) => Content): (thing: T) => HtmlEscapedString {
  const known = new WeakMap<T, HtmlEscapedString>();
  return (thing) => {
    const html = known.get(thing) ?? raw(String(write(thing)));
    known.set(thing, html);
    return html;
  };
}
