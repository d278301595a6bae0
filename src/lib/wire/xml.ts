/**
 * A view returns fields in the order of their elements, and this writer makes the document (compatibility.md, "XML").
 * It indents by two spaces and puts text directly inside its tag, because a shell client reads line by line.
 */
export type XmlValue = string | number | boolean | Date | XmlFields | XmlList | XmlMarked;
/** An undefined field is omitted. An array repeats its element without an element around it. */
export interface XmlFields {
  [name: string]: XmlValue | readonly XmlValue[] | JsonOnly | undefined;
}
/** Numbers and flags keep their type, for the JSON of the same view. */
type Attributes = Readonly<Record<string, string | number | boolean | JsonOnly>>;

/** A list element with its items. */
export class XmlList {
  readonly item: string;
  readonly items: readonly XmlValue[];
  readonly attributes: Attributes;
  constructor(item: string, items: readonly XmlValue[], attributes: Attributes = {}) {
    this.item = item;
    this.items = items;
    this.attributes = attributes;
  }
}

/** An element with attributes. */
export class XmlMarked {
  readonly attributes: Attributes;
  readonly value: string | XmlFields;
  constructor(attributes: Attributes, value: string | XmlFields) {
    this.attributes = attributes;
    this.value = value;
  }
}

/** A Kiln extension in a document of the original API. Only JSON shows it. */
export class JsonOnly {
  readonly value: XmlValue;
  constructor(value: XmlValue) {
    this.value = value;
  }
}

/** An element with attributes. */
export const marked = (attributes: Attributes, value: string | XmlFields) => new XmlMarked(attributes, value);

/** The whole document, ending with a newline. */
export const writeXml = (root: string, value: XmlValue): string => element(root, value, "");

function element(name: string, value: XmlValue, indent: string): string {
  if (isText(value)) return wrapped(name, "", textOf(value), indent);
  if (value instanceof XmlList) return list(name, value, indent);
  if (value instanceof XmlMarked) return markedElement(name, value, indent);
  return parent(name, "", value, indent);
}

type Text = string | number | boolean | Date;

const isText = (value: XmlValue): value is Text => typeof value !== "object" || value instanceof Date;

function textOf(value: Text): string {
  if (typeof value === "string") return escape(value);
  return value instanceof Date ? clientTime(value) : String(value);
}

function wrapped(name: string, attributes: string, text: string, indent: string): string {
  return text === "" ? `${indent}<${name}${attributes}/>\n` : `${indent}<${name}${attributes}>${text}</${name}>\n`;
}

function list(name: string, { item, items, attributes }: XmlList, indent: string): string {
  const inner = `${indent}  `;
  let out = `${indent}<${name}${written(attributes)}>\n`;
  for (const value of items) out += element(item, value, inner);
  return `${out}${indent}</${name}>\n`;
}

function markedElement(name: string, { attributes, value }: XmlMarked, indent: string): string {
  if (typeof value === "string") return wrapped(name, written(attributes), escape(value), indent);
  return parent(name, written(attributes), value, indent);
}

function parent(name: string, attributes: string, value: XmlFields, indent: string): string {
  const children = fields(value, `${indent}  `);
  if (children === "") return `${indent}<${name}${attributes}></${name}>\n`;
  return `${indent}<${name}${attributes}>\n${children}${indent}</${name}>\n`;
}

function fields(value: XmlFields, indent: string): string {
  let out = "";
  // Not Object.entries, which would create an array for each field.
  for (const name in value) {
    const field = value[name];
    if (field === undefined || field instanceof JsonOnly) continue;
    if (isRepeated(field)) for (const one of field) out += element(name, one, indent);
    else out += element(name, field, indent);
  }
  return out;
}

const isRepeated = (field: XmlValue | readonly XmlValue[]): field is readonly XmlValue[] => Array.isArray(field);

function written(attributes: Attributes): string {
  let out = "";
  // Not Object.entries, as above.
  for (const name in attributes) {
    const value = attributes[name];
    if (!(value instanceof JsonOnly)) out += ` ${name}="${escape(String(value)).replaceAll('"', "&quot;")}"`;
  }
  return out;
}

const escape = (text: string) =>
  plain.test(text)
    ? text
    : text.replace(notXml, "").replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

// Most texts are ids, numbers and names that need no escaping, and a list has thousands of them.
const plain = /^[ -%'-;=?-~]*$/;

// XML 1.0 cannot contain these characters, not even as references.
const notXml =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** `2012-03-01 17:02:09 UTC`; the Java client rejects ISO 8601. */
export function clientTime(moment: Date): string {
  const iso = moment.toISOString();
  return `${iso.slice(0, 10)} ${iso.slice(11, 19)} UTC`;
}
