import type { XmlNode } from "./read-xml.ts";
import { marked, type XmlMarked } from "./xml.ts";

/**
 * An element that was read, as a value to be written: for documents that this service has written itself. Equal names become
 * neighbours, text beside elements is dropped.
 */
export function copyOf({ attributes, children, exactText }: XmlNode): XmlMarked {
  const named = Object.fromEntries(attributes);
  if (children.length === 0) return marked(named, exactText);
  const groups = Map.groupBy(children, ({ name }) => name);
  return marked(named, Object.fromEntries([...groups].map(([name, nodes]) => [name, nodes.map(copyOf)])));
}
