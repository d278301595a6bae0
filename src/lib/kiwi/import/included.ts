import type { Omission } from "#lib/kiwi/import/imported";
import { WireFault } from "#lib/wire/fault";
import { readXml, type XmlNode } from "#lib/wire/read-xml";

/** Reads a file by its path relative to the description. Undefined if it cannot be read. */
export type ReadIncluded = (path: string) => string | undefined;

/**
 * The maximum number of levels of includes, which also ends a cycle. KIWI itself refuses includes in included files.
 */
const maxDepth = 8;
const maxIncludes = 500;

/** Puts the content of each `<include from="this://./x.xml"/>` in its place. Fails if none of them can be read. */
export function withIncludes(image: XmlNode, read: ReadIncluded): { image: XmlNode; omitted: Omission[] } {
  const state = { read, omitted: [] as Omission[], count: 0 };
  const children = childrenWith(image, state, 0);
  if (state.count > 0 && state.count === state.omitted.length) {
    const names = state.omitted.map(({ what }) => what.replace("include ", "")).join(", ");
    throw new WireFault("invalid_xml", `None of the files that it includes can be read: ${names}.`);
  }
  return { image: { ...image, children }, omitted: state.omitted };
}

interface Reading {
  read: ReadIncluded;
  omitted: Omission[];
  count: number;
}

function childrenWith({ children }: XmlNode, state: Reading, depth: number): XmlNode[] {
  return children.flatMap((child) => (child.name === "include" ? contentOf(child, state, depth) : [child]));
}

function contentOf({ attributes }: XmlNode, state: Reading, depth: number): XmlNode[] {
  const from = attributes.get("from") ?? "";
  const omit = (why: string) => {
    state.omitted.push({ what: `include ${from}`, why });
    return [];
  };
  if (++state.count > maxIncludes) throw new WireFault("invalid_xml", `It includes more than ${maxIncludes} files.`);
  if (depth === maxDepth) return omit("it is included by too many others, or by itself");
  const path = pathOf(from);
  const text = path === undefined ? undefined : state.read(path);
  if (text === undefined) return omit("there is no such file in the folder of the description");
  return childrenWith(rootOf(text, from), state, depth + 1);
}

function rootOf(text: string, from: string): XmlNode {
  try {
    return readXml(text);
  } catch (error) {
    throw error instanceof WireFault ? new WireFault("invalid_xml", `${from}: ${error.message}`) : error;
  }
}

/** The path in the folder of the description. Undefined if it points outside. */
function pathOf(from: string): string | undefined {
  const [, path = from] = /^(?:this|file):\/\/(.*)$/.exec(from) ?? [];
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  const isOutside = path.startsWith("/") || /^\w+:\/\//.test(path) || parts.includes("..");
  return isOutside || parts.length === 0 ? undefined : parts.join("/");
}
