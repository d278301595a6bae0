import { nameOf, xmlNodes, type XmlNode } from "../support/xml-nodes.ts";

/**
 * The structure of a document as text: elements and attributes in order, and the kind of each value. Siblings of the
 * same shape become one line with a star. So two documents of one kind give the same text.
 */
export function shapeOf(document: string): string {
  const nodes = xmlNodes(document);
  return linesOf(nodes, "").join("\n");
}

function linesOf(nodes: readonly XmlNode[], indent: string): string[] {
  const shapes = nodes
    .filter((node) => !("#text" in node))
    .map((node) => ({ name: nameOf(node), lines: nodeLines(node, indent) }));
  const lines: string[] = [];
  // One entry for each shape among siblings of the same name.
  for (let at = 0; at < shapes.length;) {
    const name = shapes[at]?.name;
    const next = shapes.findIndex((one, index) => index > at && one.name !== name);
    const run = shapes.slice(at, next === -1 ? shapes.length : next).map(({ lines }) => lines.join("\n"));
    lines.push(...new Set(run));
    at += run.length;
  }
  return lines;
}

function nodeLines(node: XmlNode, indent: string): string[] {
  const name = nameOf(node);
  const content = node[name] as XmlNode[];
  const attributes = Object.entries(node[":@"] ?? {}).map(
    ([key, value]) => ` @${key}=${attributeKind(key, value, content)}`,
  );
  const start = `${indent}${name}${attributes.join("")}`;
  const children = linesOf(content, `${indent}  `);
  if (children.length > 0) return [start, ...children];
  const text = content.map((part) => textOf(part)).join("");
  return [/^\s*\n\s*$/.test(text) ? `${start} (none)` : `${start}: ${kindOf(text)}`];
}

const textOf = (part: XmlNode): string => {
  const text = part["#text"];
  return Array.isArray(text) ? text.map((inner) => textOf(inner as XmlNode)).join("") : String(text ?? "");
};

/** Checks a count against its own document, because the fixture's count may differ. */
function attributeKind(name: string, value: string, content: readonly XmlNode[]): string {
  if (name !== "count") return name === "type" ? value : kindOf(value);
  const items = content.filter((node) => !("#text" in node)).length;
  return Number(value) === items ? "count" : `${value}, though there are ${items}`;
}

const kinds: readonly [string, RegExp][] = [
  ["nothing", /^$/],
  ["true or false", /^(true|false)$/],
  ["version", /^\d+\.\d+\.\d+$/],
  ["time", /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/],
  ["size", /^\d+ ?[MG]B$/],
  ["per cent", /^\d+%$/],
  ["uuid", /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/],
  ["md5", /^[0-9a-f]{32}$/],
  ["sha1", /^[0-9a-f]{40}$/],
  ["sha256", /^[0-9a-f]{64}$/],
  ["whole number", /^\d+$/],
  ["number", /^\d+\.\d+$/],
  ["address", /^https?:\/\/\S+$/],
];

const kindOf = (text: string): string => kinds.find(([, pattern]) => pattern.test(text))?.[0] ?? "text";
