import { RepodataFault } from "./fault.ts";

/** The part of a document before its records. */
export interface Head {
  /** The bytes as received, which are put before each slice. */
  bytes: Uint8Array;
  /** The first position at which a record may begin. */
  contentAt: number;
  /** An XML root without content, after which no record may follow. */
  isEmpty?: boolean;
}

/** The format of a document with many records. */
export interface Layout {
  /** Its name in messages. */
  what: string;
  /** A record ends at the end of an XML element, or where the next paragraph begins. */
  records: { element: string } | { paragraph: string };
  /** Put after each slice. */
  tail: string;
  readHead(start: Uint8Array): Head;
  /**
   * Checks the bytes after the last complete record: the document's end, a last record without an end mark, or a fault.
   */
  readRest(rest: Uint8Array, head: Head): "end" | "record";
}

export const layouts = {
  primary: xml("metadata", "package", "primary.xml"),
  updateinfo: xml("updates", "update", "updateinfo.xml"),
  susetags: susetags("packages", ["2.0"], "=Pkg:"),
  patterns: susetags("a file of patterns", ["4.0", "5.0"], "=Pat:"),
  deb: debianPackages(),
} as const;

const latin1 = (bytes: Uint8Array) => new TextDecoder("latin1").decode(bytes);
const malformed = (why: string) => new RepodataFault("malformed_metadata", why);

function xml(root: string, element: string, what: string): Layout {
  return {
    what,
    records: { element },
    tail: `</${root}>`,
    readHead: (start) => xmlHead(start, root, what),
    readRest(rest, head) {
      if (closesRoot(latin1(rest), root, head)) return "end";
      throw malformed(`${what} ends before </${root}>, or continues after it`);
    },
  };
}

/** yast2's packages and patterns. They have no end mark, so only the checksum detects truncation. */
function susetags(what: string, versions: string[], paragraph: string): Layout {
  return {
    what,
    records: { paragraph },
    tail: "",
    readHead(start) {
      const [head] = /^(?:(?:#.*|=Ver: .*|[ \t]*)\n)*/.exec(latin1(start)) ?? [""];
      if (!versions.some((version) => head.includes(`=Ver: ${version}`))) {
        throw malformed(`${what} does not begin with =Ver: ${versions.join(" or ")}`);
      }
      return { bytes: start.slice(0, head.length), contentAt: head.length };
    },
    readRest: (rest) => lastParagraph(rest, paragraph, what),
  };
}

/**
 * Debian's `Packages`: each paragraph begins with the package's name. Only the checksum shows that the file is
 * complete.
 */
function debianPackages(): Layout {
  const [what, paragraph] = ["Packages", "Package:"];
  return {
    what,
    records: { paragraph },
    tail: "",
    readHead(start) {
      const contentAt = latin1(start).search(/[^\n]|$/);
      lastParagraph(start.subarray(contentAt), paragraph, what);
      return { bytes: new Uint8Array(), contentAt };
    },
    readRest: (rest) => lastParagraph(rest, paragraph, what),
  };
}

function lastParagraph(rest: Uint8Array, paragraph: string, what: string): "end" | "record" {
  if (latin1(rest.subarray(0, paragraph.length)) === paragraph) return "record";
  if (latin1(rest).trim() === "") return "end";
  throw malformed(`${what} contains something other than ${paragraph}`);
}

const byteOrderMark = "\u00ef\u00bb\u00bf"; // in UTF-8, read as latin1

function xmlHead(start: Uint8Array, root: string, what: string): Head {
  const text = latin1(start);
  const from = text.startsWith(byteOrderMark) ? byteOrderMark.length : 0;
  const rootAt = skipMisc(text, from);
  const [tag, slash] = new RegExp(`^<${root}(?:\\s[^<>]*?)?(/?)>`).exec(text.slice(rootAt)) ?? [];
  if (tag === undefined) throw malformed(`${what} does not begin with <${root}>`);
  const contentAt = rootAt + tag.length;
  return { bytes: start.slice(from, contentAt), contentAt, isEmpty: slash === "/" };
}

function closesRoot(rest: string, root: string, { isEmpty = false }: Head): boolean {
  const at = skipMisc(rest, 0);
  if (isEmpty) return at === rest.length;
  const [tag] = new RegExp(`^</${root}\\s*>`).exec(rest.slice(at, at + 128)) ?? [];
  return tag !== undefined && skipMisc(rest, at + tag.length) === rest.length;
}

/**
 * Skips white space, comments and processing instructions in one pass. A regular expression would try all combinations.
 */
function skipMisc(text: string, from: number): number {
  let at = from;
  for (;;) {
    while (at < text.length && " \t\r\n".includes(text.charAt(at))) at++;
    const [opening, closing] = misc.find(([start]) => text.startsWith(start, at)) ?? [];
    if (opening === undefined || closing === undefined) return at;
    const end = text.indexOf(closing, at + opening.length);
    if (end < 0) return at;
    at = end + closing.length;
  }
}

const misc = [
  ["<!--", "-->"],
  ["<?", "?>"],
] as const;
