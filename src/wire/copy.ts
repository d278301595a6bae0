import type { XmlNode } from "./read-xml.ts";
import { marked, type XmlMarked } from "./xml.ts";

/**
 * Turns an element that was read into a value to write, for documents that this service wrote itself. Groups elements by name and
 * drops text next to elements.
 */
export function copyOf({ attributes, children, exactText }: XmlNode): XmlMarked {
  const named = Object.fromEntries(attributes);
  if (children.length === 0) return marked(named, exactText);
  const groups = Map.groupBy(children, ({ name }) => name);
  return marked(named, Object.fromEntries([...groups].map(([name, nodes]) => [name, nodes.map(copyOf)])));
}
