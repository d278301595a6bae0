import { XMLParser } from "fast-xml-parser";

/** An element with one key in addition to `:@`, its name, or a piece of text: `#text`. Elements keep their order. */
export type XmlNodes = XmlNode[];
export type XmlNode = Record<string, unknown> & { ":@"?: Record<string, string> };

const options = {
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: "",
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
};
const parser = new XMLParser({ ...options, cdataPropName: "#text" });

/** Reads a document with a parser that is not the service's own. */
export const xmlNodes = (document: string): XmlNodes => parser.parse(document);

export const nameOf = (node: XmlNode): string => Object.keys(node).find((key) => key !== ":@") ?? "";
