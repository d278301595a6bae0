import { SaxesParser } from "saxes";
import { WireFault } from "#lib/wire/fault";

/** An element of a client's document. All names and values are text. */
export interface XmlNode {
  name: string;
  attributes: ReadonlyMap<string, string>;
  children: XmlNode[];
  /** Text and CDATA directly inside it, trimmed. */
  text: string;
  /** The text of an element without trimming, for scripts and passwords. Line ends are LF. */
  exactText: string;
}

/** Limit of an XML body. A selection of ten thousand packages needs half of it. */
export const maxXmlBytes = 1024 * 1024;
const maxDepth = 64;
/** The most elements of a document, in JSON as in XML. */
export const maxNodes = 50_000;
/** The maximum number of forbidden characters. Each costs an exception of the parser. */
const maxForbidden = 100;

/**
 * Reads a client's document. Refuses as `invalid_xml` a document that is not well-formed, has not exactly one root, is
 * too large or too deep, or has a DOCTYPE (and so every entity bomb) or a name such as `__proto__`. The caller checks
 * which elements are allowed, and refuses their text if XML 1.0 forbids a character of it: that refusal names the
 * element.
 */
export function readXml(document: string): XmlNode {
  if (new TextEncoder().encode(document).byteLength > maxXmlBytes) throw refused("The XML is too large.");
  // The parser throws at an unpaired surrogate.
  if (!document.isWellFormed()) throw refused("The XML contains an incomplete character.");
  const parser = new SaxesParser({ position: false, defaultXMLVersion: "1.0", forceXMLVersion: true });
  const tree = new Tree();
  let bearable = document.match(forbidden)?.length ?? 0;
  if (bearable > maxForbidden) throw refused("The XML contains too many characters that XML does not allow.");
  parser.on("error", ({ message }) => {
    // The parser throws the same message for `<` in an attribute.
    const isBearable = message === "disallowed character." && bearable-- > 0;
    if (!isBearable) throw refused(`The XML is not well-formed: ${message.slice(0, 200)}`);
  });
  parser.on("doctype", () => {
    throw refused("A DOCTYPE is not accepted.");
  });
  parser.on("comment", refuseForbidden);
  parser.on("processinginstruction", ({ body }) => refuseForbidden(body));
  parser.on("opentag", ({ name, attributes }) => tree.open(name, Object.entries(attributes)));
  parser.on("closetag", () => tree.close());
  parser.on("text", (text) => tree.add(text));
  parser.on("cdata", (text) => tree.add(text));
  parser.write(document).close();
  return tree.root;
}

/** The characters that XML 1.0 forbids (§2.2). */
const forbidden = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

/** Whether XML 1.0 forbids a character of the text. */
export const isForbidden = (text: string): boolean => text.search(forbidden) >= 0;

/** The elements of a document while they are read. */
class Tree {
  readonly #document: XmlNode = { name: "", attributes: new Map(), children: [], text: "", exactText: "" };
  readonly #open = [this.#document];
  #nodes = 0;

  get root(): XmlNode {
    const [root] = this.#document.children;
    if (!root) throw refused("The XML has no root.");
    return root;
  }

  open(name: string, attributes: readonly [string, string][]): void {
    if (this.#open.length > maxDepth) throw refused("The XML is nested too deeply.");
    if (++this.#nodes > maxNodes) throw refused("The XML has too many elements.");
    for (const given of [name, ...attributes.map(([each]) => each)]) refuseName(given);
    for (const [, value] of attributes) refuseForbidden(value);
    const node = { name, attributes: new Map(attributes), children: [], text: "", exactText: "" };
    this.#open.at(-1)?.children.push(node);
    this.#open.push(node);
  }

  add(text: string): void {
    const node = this.#open.at(-1);
    if (node) node.exactText += text;
  }

  close(): void {
    const node = this.#open.pop();
    if (node) node.text = node.exactText.trim();
  }
}

/** Refuses names that have a special meaning in JavaScript objects. */
function refuseName(name: string): void {
  if (["__proto__", "constructor", "prototype"].includes(name)) throw refused(`The name ${name} is not accepted.`);
}

function refuseForbidden(text: string): void {
  if (isForbidden(text)) throw refused("The XML has a character that XML does not allow.");
}

const refused = (message: string) => new WireFault("invalid_xml", message);
