import { XMLParser } from "fast-xml-parser";
import { WireFault } from "#wire/fault";

/** An element of a client's document. All names and values are text. */
export interface XmlNode {
  name: string;
  attributes: ReadonlyMap<string, string>;
  children: XmlNode[];
  /** Text and CDATA directly inside it, trimmed. */
  text: string;
  /** The same without trimming, for scripts and passwords. Line ends are LF. */
  exactText: string;
}

/** Limit of an XML body. A selection of ten thousand packages needs half of it. */
export const maxXmlBytes = 1024 * 1024;
const maxDepth = 64;
const maxNodes = 50_000;

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: "",
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
  cdataPropName: "#cdata",
  processEntities: false, // decoded below: XML's five names, and numbers
});

/**
 * Reads a client's document. Refuses as `invalid_xml` a document that is not well-formed, has not exactly one root, is too large or
 * too deep, or has a DOCTYPE (and so every entity bomb) or a name such as `__proto__`. The caller checks which elements are
 * allowed.
 */
export function readXml(document: string): XmlNode {
  if (new TextEncoder().encode(document).byteLength > maxXmlBytes) throw refused("The XML is too large.");
  const text = document.replace(/^\uFEFF/, "");
  if (/<!DOCTYPE/i.test(text)) throw refused("A DOCTYPE is not accepted.");
  // The parser ignores text after the last tag.
  if (!withoutEpilogue(text).endsWith(">")) throw refused("The XML must end with its root.");
  const roots = nodesOf(parsed(text), { depth: 0, count: { nodes: 0 } });
  const [root] = roots.children;
  if (!root || roots.children.length > 1 || roots.text !== "") throw refused("The XML must have exactly one root.");
  return root;
}

function parsed(text: string): unknown {
  try {
    return parser.parse(text, true);
  } catch {
    throw refused("The body is not well-formed XML.");
  }
}

/** Without the comments and white space at its end. */
function withoutEpilogue(text: string): string {
  let rest = text.trimEnd();
  // A name may end in dashes too: `</a-->` is not a comment.
  for (let start = 0; rest.endsWith("-->") && start >= 0;) {
    start = rest.lastIndexOf("<!--");
    if (start >= 0) rest = rest.slice(0, start).trimEnd();
  }
  return rest;
}

interface Budget {
  depth: number;
  count: { nodes: number };
}

/** Reads the parser's form of mixed content: a list of objects with one name each, and `:@` for the attributes. */
function nodesOf(content: unknown, { depth, count }: Budget): Pick<XmlNode, "children" | "text" | "exactText"> {
  if (!Array.isArray(content)) throw refused("The body is not well-formed XML.");
  if (depth > maxDepth) throw refused("The XML is nested too deeply.");
  const children: XmlNode[] = [];
  let text = "";
  for (const item of content as Record<string, unknown>[]) {
    if (++count.nodes > maxNodes) throw refused("The XML has too many elements.");
    const [name = "", value] = Object.entries(item).find(([key]) => key !== ":@") ?? [];
    if (name === "#text") text += decoded(String(value));
    else if (name === "#cdata") text += cdata(value);
    else children.push({ name, attributes: attributesOf(item[":@"]), ...nodesOf(value, { depth: depth + 1, count }) });
  }
  return { children, text: text.trim(), exactText: text };
}

// CDATA is literal text.
const cdata = (value: unknown): string =>
  Array.isArray(value) ? value.map((item: Record<string, unknown>) => String(item["#text"] ?? "")).join("") : "";

function attributesOf(given: unknown): Map<string, string> {
  if (typeof given !== "object" || given === null) return new Map();
  return new Map(Object.entries(given).map(([name, value]) => [name, decoded(String(value))]));
}

const named: Record<string, string> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

function decoded(text: string): string {
  return text.replace(/&([^;&\s]{0,12};?)/g, (_, reference: string) => {
    const [, number, name] = /^(?:#(x[0-9a-f]+|\d+)|([a-z]+));$/i.exec(reference) ?? [];
    if (number !== undefined) return character(Number(/^x/i.test(number) ? `0${number}` : number));
    const known = name === undefined ? undefined : named[name];
    if (known === undefined) throw refused("The XML has a reference to something unknown.");
    return known;
  });
}

/** Accepts only characters that XML 1.0 allows. */
function character(code: number): string {
  const allowed =
    [0x9, 0xa, 0xd].includes(code) ||
    (code >= 0x20 && code <= 0xd7ff) ||
    (code >= 0xe000 && code <= 0xfffd) ||
    (code >= 0x10000 && code <= 0x10ffff);
  if (!allowed) throw refused("The XML has a reference to a character that does not exist.");
  return String.fromCodePoint(code);
}

const refused = (message: string) => new WireFault("invalid_xml", message);
