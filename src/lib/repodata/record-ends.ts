import { type ByteWindow, Needle } from "./byte-window.ts";
import { RepodataFault } from "./fault.ts";

/**
 * Finds the end of each `<name>…</name>` in a window without parsing XML. It only recognises comments, CDATA sections
 * and processing instructions, because a `</name>` inside them has no meaning. Other faults are found by the parser of
 * the slices, which gets every byte.
 */
export class ElementEnds {
  readonly #window: ByteWindow;
  readonly #closing: Needle;
  readonly #declaration: Needle;
  readonly #instruction: Needle;
  readonly #what: string;
  #cursor: number;
  /** The end of the comment, CDATA section or processing instruction at the cursor. */
  #until: Needle | undefined;

  constructor(window: ByteWindow, name: string, start: number, what: string) {
    this.#window = window;
    this.#closing = new Needle(window, `</${name}`);
    this.#declaration = new Needle(window, "<!");
    this.#instruction = new Needle(window, "<?");
    this.#cursor = start;
    this.#what = what;
  }

  /** The position after the next closing tag; undefined if more bytes are needed first. */
  next(): number | undefined {
    for (;;) {
      if (this.#until && !this.#leave(this.#until)) return undefined;
      const closing = this.#closing.find(this.#cursor);
      const markup = this.#nextMarkup();
      if (markup !== undefined && (closing === undefined || markup < closing)) {
        if (!this.#enter(markup)) return undefined;
        continue;
      }
      if (closing === undefined) return undefined;
      const end = this.#tagEnd(closing + this.#closing.bytes.byteLength);
      if (end === "more") return undefined;
      if (end !== "other") return (this.#cursor = end);
      this.#cursor = closing + this.#closing.bytes.byteLength;
    }
  }

  #nextMarkup(): number | undefined {
    const [declaration, instruction] = [this.#declaration.find(this.#cursor), this.#instruction.find(this.#cursor)];
    if (declaration === undefined || instruction === undefined) return declaration ?? instruction;
    return Math.min(declaration, instruction);
  }

  /** Enters `<!--`, `<![CDATA[` or `<?`; false if too few bytes are there to tell them apart. */
  #enter(at: number): boolean {
    const opening = new TextDecoder().decode(this.#window.view(at, Math.min(at + 9, this.#window.filled)));
    const kind = markups.find(([start]) => opening.startsWith(start));
    if (kind) {
      this.#cursor = at + kind[0].length;
      this.#until = new Needle(this.#window, kind[1]);
      return true;
    }
    if (markups.some(([start]) => start.startsWith(opening))) return false;
    throw new RepodataFault("malformed_metadata", `${this.#what} has a ${opening}, which metadata never needs`);
  }

  #leave(until: Needle): boolean {
    const end = until.find(this.#cursor);
    if (end === undefined) return false;
    this.#cursor = end + until.bytes.byteLength;
    this.#until = undefined;
    return true;
  }

  /** `</package>` and `</package >` end a package, `</packager>` does not. */
  #tagEnd(from: number): number | "more" | "other" {
    for (let at = from; at < from + maxSpaces; at++) {
      const byte = this.#window.byteAt(at);
      if (byte === undefined) return "more";
      if (byte === 0x3e) return at + 1;
      if (byte !== 0x20 && byte !== 0x09 && byte !== 0x0a && byte !== 0x0d) return "other";
    }
    return "other";
  }
}

const maxSpaces = 64; // real metadata has none

const markups = [
  ["<!--", "-->"],
  ["<![CDATA[", "]]>"],
  ["<?", "?>"],
] as const;

/**
 * Finds the end of each paragraph in yast2's files: a line that begins the next one, e.g. `=Pkg:`. The last has no end.
 */
export class ParagraphEnds {
  readonly #next: Needle;
  #cursor: number;

  constructor(window: ByteWindow, beginning: string, start: number) {
    this.#next = new Needle(window, `\n${beginning}`);
    this.#cursor = start;
  }

  next(): number | undefined {
    const at = this.#next.find(this.#cursor);
    return at === undefined ? undefined : (this.#cursor = at + 1);
  }
}
