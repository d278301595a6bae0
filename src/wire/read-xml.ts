import { XMLParser } from "fast-xml-parser";
import { WireFault } from "#wire/fault";

/** An element of a document that a client sent. All names and values are text. */
export interface XmlNode {
  name: string;
  attributes: ReadonlyMap<string, string>;
  children: XmlNode[];
  /** Text and CDATA directly inside it, without the white space around. */
  text: string;
  /** The same with it, for scripts and passwords; line ends are LF. */
  exactText: string;
}

/** The longest body that a call takes as XML: a selection of ten thousand packages has half of it. */
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
  processEntities: false, // decoded below: the five that XML itself has, and numbers
});

/**
 * Reads a document of a client. Refused as `invalid_xml`: what is not well-formed, has not exactly one root, is too large
 * or too deep, has a DOCTYPE (and with it every entity bomb) or a name such as `__proto__`. Which elements may be there is
 * the caller's business.
 */
export function readXml(document: string): XmlNode {
  if (new TextEncoder().encode(document).byteLength > maxXmlBytes) throw refused("The XML is too large.");
  const text = document.replace(/^\uFEFF/, "");
  if (/<!DOCTYPE/i.test(text)) throw refused("A DOCTYPE is not accepted.");
  // The parser overlooks text behind the last tag.
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
  // A name may end in dashes too: `</a-->` is no comment.
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

/** What the parser makes of mixed content: a list of objects with one name each, and `:@` for the attributes. */
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

// What stands in CDATA is text as it is.
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

/** Only what XML 1.0 allows at all. */
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
